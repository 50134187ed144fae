"""How does desim run in a browser tab? Writes the folder of a page that needs no other host.

The page plays the Beer Game, replays records, and runs a policy, in Pyodide (CPython in
WebAssembly) inside a web worker. npm provides Pyodide, pip the wheels; desim is built from this
checkout. A browser loads WebAssembly from a server only, for which Python's own is enough:

    python experiments/browser_page.py --out tab
    python -m http.server --directory tab

The index has no wheel of numpy for WebAssembly; `--wheel FILE` adds one from elsewhere.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: The sources of the page, with the policy that it shows first.
SOURCES = ROOT / "experiments" / "browser"

#: The version of Pyodide; its lock file names the version of Python and the platform of wheels.
PYODIDE = "314.0.7"

#: Files of Pyodide that a page loads.
_LOADED = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)

#: Packages of which the index has no wheel for WebAssembly; a world that needs one says so.
_WITHOUT = ("numpy", "scipy")


def requirements() -> list[str]:
    """Return what desim requires, without the packages that cannot be had."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return [each for each in project["dependencies"] if not each.startswith(_WITHOUT)]


def run(*command: str | Path) -> None:
    """Run a command; a failure ends the script with what the command printed."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")


def unpack_pyodide(folder: Path, work: Path) -> None:
    """Write the files of Pyodide that a page loads."""
    run("npm", "pack", "--silent", "--pack-destination", work, f"pyodide@{PYODIDE}")
    folder.mkdir()
    with tarfile.open(work / f"pyodide-{PYODIDE}.tgz") as archive:
        archive.extractall(work, filter="data")
    for name in _LOADED:
        shutil.copy(work / "package" / name, folder)


def download_wheels(pyodide: Path, folder: Path) -> None:
    """Write the wheels of desim and of what it requires."""
    info = json.loads((pyodide / "pyodide-lock.json").read_text("utf-8"))["info"]
    version = ".".join(info["python"].split(".")[:2])
    platform = f"pyemscripten_{info['abi_version']}_{info['arch']}"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT)
    target = ("--python-version", version, "--platform", platform, "--only-binary", ":all:")
    run(*pip, "download", "--quiet", *target, "--dest", folder, *requirements())


def build(out: Path, wheels: Sequence[Path] = ()) -> None:
    """Write the page.

    Args:
        out: A new folder.
        wheels: Further wheels that the page loads.
    """
    with tempfile.TemporaryDirectory() as work:
        page = Path(work) / "page"
        shutil.copytree(SOURCES, page, ignore=shutil.ignore_patterns("__pycache__"))
        unpack_pyodide(page / "pyodide", Path(work))
        (page / "wheels").mkdir()
        download_wheels(page / "pyodide", page / "wheels")
        for wheel in wheels:
            shutil.copy(wheel, page / "wheels")
        names = sorted(wheel.name for wheel in (page / "wheels").iterdir())
        (page / "wheels.json").write_text(json.dumps({"wheels": names}), "utf-8")
        shutil.copytree(page, out)


def main() -> None:
    """Build the page, and print its size and how to open it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="a new folder for the page")
    help_wheel = "a further wheel for WebAssembly, such as numpy's; may be repeated"
    parser.add_argument("--wheel", type=Path, action="append", default=[], help=help_wheel)
    given = parser.parse_args()
    if given.out.exists():
        parser.error(f"{given.out} exists; name a new folder")
    for wheel in given.wheel:
        if wheel.suffix != ".whl" or not wheel.is_file():
            parser.error(f"{wheel} is no wheel")
    if not shutil.which("npm"):
        parser.error("npm is not installed; it provides Pyodide")
    build(given.out, given.wheel)
    size = sum(file.stat().st_size for file in given.out.rglob("*") if file.is_file())
    print(f"{given.out}: {size / 1e6:.1f} MB; python -m http.server --directory {given.out}")


if __name__ == "__main__":
    main()
