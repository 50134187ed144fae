"""What a sweep on the command line asks for: options, a TOML file, or options over a file.

A file holds `model`, `preset`, `policies` (a list of specs and of tables of roles to specs),
`seeds` ("0:500" or a list) and a table `set` of values or lists of values by parameter, such as
`"policy.target" = [20, 24, 28]`.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from desim.errors import SchemaError, UsageError
from desim.schema import from_plain
from desim.seating import read_seats
from desim.sweeps.rows import Rows
from desim.sweeps.sweep import sweep

__all__ = ["Asked", "asked", "read_seeds"]

#: Seeds of a sweep that names none.
SEEDS = range(20)

#: Roles of one way to play are joined with + ; 1e+5 is a number.
_JOINED = re.compile(r"\+(?=\w+=)")


@frozen
class Asked:
    """A sweep to play.

    Attributes:
        model: A name, or `module:Class`.
        preset: Empty stands for the first.
        policies: Specs, or mappings of roles to specs; each is one way to play.
        seeds: "A:B" without B, "A,B,...", or the numbers themselves.
        set: A value or a list of values by parameter; `policy.` begins an argument of policies.
    """

    model: str
    preset: str = ""
    policies: list[str | dict[str, str]] = field(factory=list)
    seeds: str | list[int] = ""
    set: dict[str, Any] = field(factory=dict)

    def play(
        self,
        *,
        jobs: int,
        out: str | None,
        executor: str | None,
        progress: Callable[[int, int], object] | None,
    ) -> Rows:
        """Play it; see `desim.sweeps.sweep`."""
        seeds = read_seeds(self.seeds) if isinstance(self.seeds, str) else self.seeds
        return sweep(
            self.model,
            list(self.policies) or ["greedy"],
            seeds,
            preset=self.preset,
            set=self.set,
            jobs=jobs,
            out=out,
            executor=executor,
            progress=progress,
        )


def asked(
    model: str, preset: str, changes: Mapping[str, str], specs: Sequence[str], seeds: str
) -> Asked:
    """Put together what options and, where `model` names one, a TOML file say; options win.

    Raises:
        UsageError: The file cannot be read or holds something else.
    """
    found = _from_file(Path(model)) if model.endswith(".toml") else Asked(model)
    lists = {key: _values(text) for key, text in changes.items()}
    policies = [_lineup(spec) for spec in specs]
    return evolve(
        found,
        preset=preset or found.preset,
        policies=policies or found.policies,
        seeds=seeds or found.seeds,
        set={**found.set, **lists},
    )


def read_seeds(text: str) -> Sequence[int]:
    """Read `A:B` (without B), or numbers with commas between; nothing stands for 0:20.

    Raises:
        UsageError: It is neither.
    """
    if not text:
        return SEEDS
    start, colon, stop = text.partition(":")
    try:
        return range(int(start), int(stop)) if colon else [int(n) for n in text.split(",")]
    except ValueError:
        raise UsageError(f"seeds {text!r} were given; write A:B (without B) or A,B,...") from None


def _from_file(path: Path) -> Asked:
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        found: Asked = from_plain(told, Asked)
    except OSError as fault:
        raise UsageError(f"cannot read {path}: {fault.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, SchemaError) as fault:
        raise UsageError(f"{path} asks for no sweep: {fault}") from None
    return found


def _values(text: str) -> str | list[str]:
    """Split V1,V2; a JSON list or object is one value."""
    return text if text[:1] in {"[", "{"} or "," not in text else text.split(",")


def _lineup(spec: str) -> str | dict[str, str]:
    seats: str | dict[str, str] = read_seats(_JOINED.split(spec))
    return seats
