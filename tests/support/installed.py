"""The wheel in an empty environment, and programs started in a user's folder."""

import os
import subprocess
import venv
from pathlib import Path

from support.paths import ROOT


def install_wheel(folder: Path) -> Path:
    """Build the wheel, install it into an empty environment and return its interpreter."""
    venv.create(folder / "venv", with_pip=True)
    interpreter = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    # Isolated from the checkout and from this environment, but not from pip's configuration.
    call(folder, interpreter, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", "dist", str(ROOT))
    (wheel,) = (folder / "dist").glob("desim-*.whl")
    call(folder, interpreter, "-m", "pip", "install", "--quiet", str(wheel))
    return interpreter


def call(folder: Path, *arguments: object, **variables: str) -> str:
    """Run a program in a folder and return its output; fail with what it printed as errors."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [*map(str, arguments)],
        cwd=folder,
        env=env | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout
