"""The tree of DESIGN: who may import whom, which names are known where, what is a package."""

import re
from collections import Counter
from pathlib import Path

import pytest
from support.imports import (
    ROOMS,
    WORLDS,
    circle,
    files,
    graph,
    imported,
    module_name,
    reachable,
)
from support.paths import ROOT

TOP = {
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "desim",
    "models",
    "ledgers",
    "policies",
    "experiments",
    "tests",
}
#: Which of our rooms each room may import; models and heuristics have tests of their own below.
MAY = {
    "desim": {"desim"},
    "ledgers": {"ledgers"},
    "models": {"models", "desim", "ledgers"},
    "policies": {"policies", "desim", "models"},
    "experiments": set(ROOMS),
}
#: The layers of desim from the bottom to the top, by folder; a module imports folders below its
#: own, and its own. The modules of `desim` itself (errors, faults, version) are the ground.
LAYERS = (
    "desim",
    "desim.schema",
    "desim.sandbox.child",
    "desim.sandbox",
    "desim.statistics",
    "desim.show",
    "desim.core",
    "desim.lanes",
    "desim.resources",
    "desim.monitoring",
    "desim.tracing",
    "desim.catalog",
    "desim.composition",
    "desim.records",
    "desim.episodes",
    "desim.engine",
    "desim.rows",
    "desim.engine.run",
    "desim.studies",
    "desim.studies.boards",
    "desim.suites",
    "desim.reports",
    "desim.reports.record",
    "desim.reports.report",
    "desim.ui",
    "desim.ui.browser",
    "desim.adapters.seat",
    "desim.adapters.inspect_ai",
    "desim.adapters",
    "desim.cli",
)
#: Modules of a model that know an episode under way, or a module that does.
UPPER = {
    "chain",
    "company.state",
    "processes",
    "report",
    "state",
    "options",
    "score",
    "tables",
    "weeks",
    "model",
}


def names(room: str) -> list[str]:
    """Return the names of a room's modules."""
    return [module_name(file) for file in files(room)]


# -- rooms -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_only_the_rooms_they_may(room: str) -> None:
    """`desim` and `ledgers` import no other room; models import both; policies desim and models."""
    offenders = [
        (module, other)
        for module in names(room)
        for other in imported(module)
        if other.split(".")[0] not in MAY[room]
    ]
    assert offenders == []


#: Models that are made of other models, which they import by the public names of the packages.
COMPOSITES = {"enterprise"}


def test_a_model_imports_no_other_model() -> None:
    """What two models share belongs to desim or ledgers; only a composite imports its parts."""
    offenders = [
        (module, other)
        for module in names("models")
        for other in imported(module)
        if other.split(".")[0] == "models" and other.split(".")[1] != module.split(".")[1]
        if module.split(".")[1] not in COMPOSITES or other.count(".") > 1
    ]
    assert offenders == []


def test_only_heuristics_import_a_model_and_only_their_own() -> None:
    """A generic policy plays every model, so it imports none."""
    offenders = []
    for module in names("policies"):
        _, folder, *rest = module.split(".")
        rules = folder == "heuristics" and rest
        own = f"models.{rest[0]}" if rules else "none"
        offenders += [
            (module, other)
            for other in imported(module)
            if other.split(".")[0] == "models" and not f"{other}.".startswith(f"{own}.")
        ]
    assert offenders == []


def test_there_is_no_circle_of_imports() -> None:
    """Neither at module level, nor under `TYPE_CHECKING`, nor inside functions."""
    assert circle(graph()) == []


# -- layers ----------------------------------------------------------------------------------------


def layer(module: str) -> int:
    """Return the layer of a module of desim: its own, or that of its folder."""
    return LAYERS.index(module if module in LAYERS else module.rpartition(".")[0])


def test_every_folder_of_desim_has_a_layer() -> None:
    """A new folder is put into `LAYERS`, and a removed one is taken out."""
    folders = {".".join(f.relative_to(ROOT).parts[:-1]) for f in files("desim")}
    modules = {name for name in LAYERS if (ROOT / f"{name.replace('.', '/')}.py").is_file()}
    assert folders | modules == set(LAYERS)


def test_the_folders_of_desim_are_layered() -> None:
    """A module imports layers below its own, and its own folder."""
    offenders = [
        (module, other)
        for module in names("desim")
        for other in imported(module)
        if module not in {"desim", "desim.__main__"} and layer(other) > layer(module)
    ]
    assert offenders == []


@pytest.mark.parametrize("room", ["desim", "models", "ledgers", "policies"])
def test_a_folder_holds_at_most_fifteen_modules(room: str) -> None:
    """A folder fits on a screen; `__init__.py` apart."""
    held = Counter(f.parent for f in files(room) if f.name != "__init__.py")
    assert {str(folder): n for folder, n in held.items() if n > 15} == {}


@pytest.mark.parametrize("world", WORLDS)
def test_parameters_are_at_the_bottom_of_a_model(world: str) -> None:
    """`params.py` imports nothing that knows an episode, at once or through others."""
    package = f"models.{world}"
    below = reachable(f"{package}.params", within=f"{package}.")
    assert sorted(below & {f"{package}.{upper}" for upper in UPPER}) == []
    assert package not in imported(f"{package}.params")


@pytest.mark.parametrize("world", WORLDS)
def test_heuristics_import_the_lower_modules_of_their_model(world: str) -> None:
    """Observations, actions, parameters and rules: no module that knows an episode."""
    package = f"models.{world}"
    upper = {f"{package}.{name}" for name in UPPER}
    offenders = [
        (module, other)
        for module in names("policies")
        for other in imported(module)
        if other == package
        or (other.startswith(f"{package}.") and {other, *reachable(other, package)} & upper)
    ]
    assert offenders == []


# -- names -----------------------------------------------------------------------------------------


def generic_files() -> list[Path]:
    """Return the files that serve every model."""
    rules = ROOT / "policies" / "heuristics"
    worlds = ROOT / "policies" / "llm" / "worlds"
    own = {worlds / "__init__.py", worlds / "generic.py"}
    policies = [
        file
        for file in files("policies")
        if rules not in file.parents and (worlds not in file.parents or file in own)
    ]
    return [*files("desim"), *files("ledgers"), *policies, ROOT / "tests" / "conftest.py"]


#: Models whose names are also words of the replies and labels of language models, which generic
#: files may use: of these only a name in a path, in a spec or of a class counts.
WORDS = {"reasoning"}


def naming(world: str) -> re.Pattern[str]:
    """Return the pattern of a line that names a model."""
    class_name = "".join(part.capitalize() for part in world.split("_"))
    if world in WORDS:
        return re.compile(rf"\b(\w+[./]{world}|{world}/\w+|{class_name}[A-Z]\w*)\b")
    return re.compile(rf"\b({world}|{class_name})\b")


@pytest.mark.parametrize("world", WORLDS)
def test_generic_files_name_no_model(world: str) -> None:
    """A new model needs only its own folders: code, texts and docstrings elsewhere name none."""
    named = naming(world)
    offenders = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in generic_files()
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if named.search(line)
    ]
    assert offenders == []


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "folder",
    [
        "models",
        "ledgers",
        "policies",
        "policies/heuristics",
        "tests",
        "experiments",
    ],
)
def test_open_folders_are_namespace_packages(folder: str) -> None:
    """A user's folder of the same name joins ours instead of hiding it."""
    assert not (ROOT / folder / "__init__.py").exists()


def test_the_top_level_holds_what_was_agreed() -> None:
    """Files whose names start with a dot and caches are ignored."""
    entries = {p.name for p in ROOT.iterdir() if not p.name.startswith(".")}
    assert entries - {"__pycache__", "uv.lock"} - TOP == set()
    assert entries >= TOP
