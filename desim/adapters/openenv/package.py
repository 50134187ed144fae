"""A folder that OpenEnv accepts as an environment: manifest, container file, runtime plan.

`openenv validate FOLDER` reads it, and builds and starts the container if docker is installed.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from desim.adapters.openenv.tasks import CHANGED, Tasks, reward_of
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.stepped_session import SCORE
from desim.catalog import model_name
from desim.errors import UsageError, WriteFailed
from desim.schema import tagged
from desim.version import __version__

#: Where OpenEnv expects a server inside a container.
_PORT = 8000

#: Scores are not scaled to a range: a reward is a change of dollars, points or units. This range
#: excludes infinity, NaN and absurdly large scores.
_RANGE = (-1e12, 1e12)

#: Actions of the runtime plan, and their bytes together, at most; OpenEnv takes 100 and 65,536.
_MOST_ACTIONS, _MOST_BYTES = 20, 40_000

_CONTAINER = """\
# {name} behind OpenEnv, made by desim {version}. Build and run:
#   docker build --file Containerfile --tag {name} .
#   docker run --publish 127.0.0.1:{port}:{port} {name}
# Whoever reaches the port plays, but no web page of another origin. With --env DESIM_TOKEN=TOKEN
# clients need the token, in the header Authorization: Bearer TOKEN or in their address:
#   http://HOST:{port}/t/TOKEN
# desim comes from an index, or from a wheel that lies in this folder:
#   pip wheel --no-deps --wheel-dir . CHECKOUT
#   docker build --build-arg "DESIM=/package/desim-{version}-py3-none-any.whl[openenv]" ...
FROM python:3.12-slim
ARG DESIM="desim[openenv]=={version}"
COPY . /package
RUN pip install --no-cache-dir "${{DESIM}}" && useradd --create-home player
USER player
EXPOSE {port}
HEALTHCHECK CMD ["python", "-c", {health}]
CMD {command}
"""


#: Checks the health of the server in the container, with its token if it has one.
_HEALTH = (
    "import os, urllib.request as r; token = os.environ.get('DESIM_TOKEN', ''); "
    "path = '/t/' + token if token else ''; "
    "r.urlopen('http://127.0.0.1:{port}' + path + '/health')"
)


def files(setup: Setup) -> dict[str, str]:
    """Return the files of the folder by path."""
    tasks = Tasks(setup)
    command = json.dumps(_command(setup, tasks))
    health = json.dumps(_HEALTH.format(port=_PORT))
    facts = {"name": tasks.name, "version": __version__, "port": _PORT, "command": command}
    return {
        "openenv.yaml": json.dumps(_manifest(tasks), indent=1) + "\n",  # JSON is YAML
        "Containerfile": _CONTAINER.format(health=health, **facts),
        "validation/runtime.json": json.dumps(_plan(setup), indent=1) + "\n",
    }


def write(setup: Setup, folder: str | Path) -> None:
    """Write the files; the folder may hold others, but none of these.

    Raises:
        UsageError: The world, or a policy of another role, cannot be named on a command line.
        WriteFailed: A file exists, or cannot be written.
    """
    for name, text in files(setup).items():
        path = Path(folder) / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as fault:
            raise WriteFailed(f"cannot write {path}: {fault.strerror}") from None


def _manifest(tasks: Tasks) -> dict[str, Any]:
    return {
        "spec_version": 1,
        "name": tasks.name,
        "version": __version__,
        "type": "space",
        "runtime": "fastapi",
        "port": _PORT,
        "validation": {
            "reward": {"range": _RANGE, "oracle_tolerance": 0.0, "floor_margin": 0.1},
            "resources": {
                "cpu": 1.0,
                "memory_mb": 1024,
                "disk_mb": 1024,
                "episode_timeout_s": 600.0,
            },
            "capabilities": {
                "verifier": {"kind": "reward_channel"},
                "task_api": True,
                "declared_task_count": {
                    split["name"]: len(tasks.of(split["name"])) for split in tasks.splits
                },
            },
            "types": {"tags": ["business-simulation"]},
            "task_distribution": {"generator_seed": 0, "dataset_version": __version__},
            "execution": {"probe_path": "validation/runtime.json", "dockerfile": "Containerfile"},
        },
    }


def _plan(setup: Setup) -> dict[str, Any]:
    """Return a reset and some actions: the options with the best estimates."""
    actions: list[Mapping[str, Any]] = []
    size = 0
    with setup.begin(0) as session:
        while not session.done and len(actions) < _MOST_ACTIONS:
            decision = session.open[0]
            options = session.options(decision)
            role = session.run.role_of(decision)
            best = max(options, key=lambda each: each.value).action if options else None
            action = best or role.default_for(decision.observation)
            actions.append(json.loads(tagged(action)))
            size += len(json.dumps(actions[-1]))
            if size > _MOST_BYTES:
                actions.pop()
                break
            session.answer(decision, action)
            session.advance()
    reset = {"episode_id": "runtime-plan", "seed": 0}
    return {"plan_schema_version": "1", "reset": reset, "actions": actions}


def _command(setup: Setup, tasks: Tasks) -> list[str]:
    """Return the command that serves the setup, in a container."""
    if CHANGED in tasks.setups:
        raise UsageError("a container file serves a preset; give no other parameters")
    if setup.max_days is not None:
        raise UsageError("a container file takes no max_days; give max_decisions instead")
    preset = next(iter(tasks.setups))
    world: type[Any] = type(setup.model)
    command = ["desim", "serve", model_name(world), "--preset", preset, "--openenv"]
    for seat in setup.seats:
        command += ["--seat", seat]
    for role, policy in setup.others.items():
        if not isinstance(policy, str):
            raise UsageError(f"the policy of {role!r} is no spec; a container file needs one")
        command += ["--policy", f"{role}={policy}"]
    if (reward := reward_of(setup)) != SCORE:
        command += ["--reward", reward]
    if setup.max_decisions:
        command += ["--max-decisions", str(setup.max_decisions)]
    return [*command, "--no-token", "--host", "0.0.0.0", "--port", str(_PORT)]  # noqa: S104 (in a container)
