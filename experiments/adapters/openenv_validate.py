"""Does `openenv validate` accept every world? Its own graders, with a process in place of docker.

The provider starts a server in this process where the package's own would build a container. What
it cannot measure, such as reachable networks, the package skips and says so.
"""

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from openenv.cli._validation import validate_running_environment
from openenv.validation import ExecResult, ProviderCapability, run_validation

from desim import catalog
from desim.adapters.openenv.package import write
from desim.adapters.openenv.server import serving
from desim.adapters.seat.setup import Setup

WORLDS = {
    "beer_game": "poisson",
    "yc_bench": "direct",
    "enterprise_arena": "capped",
    "edt": "interactive",
    "consulting": "published",
    "reasoning": "small",
    "enterprise": "small",
}


class LocalProvider:
    """Starts a server in this process; it contains nothing and measures no network."""

    name = "local-process"
    capabilities = frozenset({ProviderCapability.IMAGE_BUILD})
    supported_network_modes = frozenset({"public"})

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    def build(self, root: Path, _: Any) -> str:
        """Return a digest of the folder; nothing is built."""
        texts = [file.read_bytes() for file in sorted(root.rglob("*")) if file.is_file()]
        return "sha256:" + hashlib.sha256(b"\0".join(texts)).hexdigest()

    def start(self, _: Any) -> "Running":
        """Start the server."""
        return Running(self._setup)


class Running:
    """A server that runs until `stop`."""

    def __init__(self, setup: Setup) -> None:
        self._serving = serving(setup)
        self.base_url = self._serving.__enter__()

    def inspect(self) -> dict[str, str]:
        """Return nothing of a container."""
        return {"provider": LocalProvider.name}

    def logs(self, max_bytes: int = 65_536) -> str:
        """Return an empty text: the server writes to this process's."""
        return ""[:max_bytes]

    def exec(self, argv: list[str], timeout_s: float) -> ExecResult:
        """Raise NotImplementedError: the server runs outside a container."""
        raise NotImplementedError(f"no container runs {argv} for {timeout_s} s")

    def stop(self) -> None:
        """Stop the server."""
        self._serving.__exit__(None, None, None)


@contextmanager
def package(setup: Setup) -> Iterator[Path]:
    """Write the folder that `desim serve --openenv --package` writes, and remove it."""
    with tempfile.TemporaryDirectory() as folder:
        write(setup, folder)
        yield Path(folder)


def validated(setup: Setup) -> tuple[dict[str, tuple[str, str]], dict[str, bool]]:
    """Return status and evidence of each check, and whether a live server meets each criterion."""
    with package(setup) as folder:
        report = run_validation(folder, provider=LocalProvider(setup))
    checks = {
        each.check_id: (each.status.value, "; ".join(each.evidence)) for each in report.results
    }
    with serving(setup) as url:
        live = validate_running_environment(url, timeout_s=30)
    return checks, {each["id"]: each["passed"] for each in live["criteria"]}


def main() -> None:
    """Print a line a world and check: the graders that the package ships, and its live probe."""
    for world, preset in WORLDS.items():
        checks, live = validated(Setup.of(catalog.model(world, preset)))
        graded = {name: each for name, each in checks.items() if each[0] != "skip"}
        print(f"{world}/{preset}: {sum(live.values())} of {len(live)} criteria of a live server")
        for name, (status, evidence) in graded.items():
            print(f"  {status:5} {name}: {evidence}")
        print(f"  skipped by the package: {len(checks) - len(graded)}")


if __name__ == "__main__":
    main()
