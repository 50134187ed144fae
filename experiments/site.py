"""Do all pages, the reference and the command line fit into one site that can be read offline?

`python experiments/site.py --out FOLDER` needs the extra `docs`. The pages stay where they are in
the repository, and so do their links: the site has the same folders. Pages are listed in order in
`desim/docs/site/zensical.toml`; those under `reference/` are generated (`site_pages.py`).
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from site_links import SiteFault, check_site, page_faults, with_plain_links
from site_pages import GENERATED

ROOT = Path(__file__).resolve().parent.parent
CONFIGURATION = Path("desim") / "docs" / "site" / "zensical.toml"
#: The file whose presence tells a site that an earlier build wrote from a folder of the user's.
_MARK = "objects.inv"
_IMAGES = (".svg", ".png", ".jpg", ".gif")


def listed_pages(root: Path) -> list[str]:
    """Return the pages of the site in order, as paths from the root of the repository.

    Raises:
        SiteFault: A page is in no group of the navigation, in two places, or listed and not there.
    """
    settings = tomllib.loads((root / CONFIGURATION).read_text(encoding="utf-8"))
    groups = settings["project"]["nav"]
    listed = [page for group in groups for pages in group.values() for page in pages]
    there = {str(page.relative_to(root)) for page in _pages(root)} | {*GENERATED}
    name = CONFIGURATION.name
    SiteFault.raise_any(
        [
            *(f"{page}: in no group of {name}" for page in sorted(there - {*listed})),
            *(
                f"{page}: listed in {name}, but there is no such page"
                for page in listed
                if page not in GENERATED and not (root / page).is_file()
            ),
            *(
                f"{page}: listed twice in {name}"
                for page in sorted({*listed})
                if listed.count(page) > 1
            ),
        ]
    )
    return listed


def _pages(root: Path) -> list[Path]:
    """Return the pages of the repository, without those of hidden folders and of builds."""
    return [
        page
        for page in root.rglob("*.md")
        if not any(part.startswith(".") or part == "dist" for part in page.relative_to(root).parts)
    ]


def assemble(root: Path, pages: Iterable[str], folder: Path) -> None:
    """Write the pages and their pictures to a folder, with the paths of the repository.

    Raises:
        SiteFault: A link of a page leads to nothing.
    """
    listed = {page for page in pages if page not in GENERATED}
    SiteFault.raise_any(fault for page in sorted(listed) for fault in page_faults(root, page))
    for page in listed:
        text = with_plain_links(root, page, listed)
        _write(folder / page, text)
    for picture in (root / "desim" / "docs").rglob("*"):
        if picture.suffix in _IMAGES:
            _copy(picture, folder / picture.relative_to(root))
    for asset in (root / CONFIGURATION).parent.glob("*.[jc]s*"):
        _copy(asset, folder / "assets" / asset.name)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _copy(file: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, to)


def run_zensical(project: Path) -> None:
    """Build the project in a folder.

    Raises:
        SiteFault: zensical warns or fails; the text is its own.
    """
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=project,
        env={**os.environ, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    printed = re.sub(r"\x1b\[[\d;]*m", "", done.stdout).partition("Traceback")[0]
    # griffe only prints what it finds wrong with a docstring.
    if done.returncode or re.search(r"^(griffe|mkdocstrings|Warning):", printed, re.MULTILINE):
        raise SiteFault(f"zensical does not build the site without warnings:\n{printed}")


def build(
    root: Path,
    out: Path,
    generated: Mapping[str, Callable[[], str]] = GENERATED,
    run: Callable[[Path], None] = run_zensical,
) -> int:
    """Build the site and return the number of its pages; *out* changes only if all is well.

    Raises:
        SiteFault: A page, a link or the build has a fault, or *out* holds something else.
    """
    if out.exists() and any(out.iterdir()) and not (out / _MARK).exists():
        raise SiteFault(f"{out} exists and is no site; choose another folder for --out")
    listed = listed_pages(root)
    with TemporaryDirectory() as temporary:
        project = Path(temporary)
        assemble(root, listed, project / "docs")
        for page, text in generated.items():
            _write(project / "docs" / page, text())
        _copy(root / CONFIGURATION, project / CONFIGURATION.name)
        _copy(ROOT / "experiments" / "site_docstrings.py", project / "site_docstrings.py")
        run(project)
        pages = check_site(project / "site")
        _replace(out, project / "site")
    return pages


def _replace(folder: Path, site: Path) -> None:
    """Put a site in the place of a folder; one that is killed leaves the old one or none."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=".site-") as beside:
        new = shutil.copytree(site, Path(beside) / "site")
        if folder.exists():
            shutil.rmtree(folder)
        new.rename(folder)


@click.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=ROOT / "dist" / "site",
    help="The folder of the site; default: dist/site in the repository.",
)
def main(out: Path) -> None:
    """Build the site."""
    for package in ("zensical", "mkdocstrings"):
        if find_spec(package) is None:
            raise click.ClickException(f"{package} is not installed; pip install -e '.[docs]'")
    try:
        pages = build(ROOT, out)
    except (SiteFault, OSError) as fault:
        raise click.ClickException(str(fault)) from None
    click.echo(f"{pages} pages, no warning, no broken link: {out / 'index.html'}")


if __name__ == "__main__":
    main()
