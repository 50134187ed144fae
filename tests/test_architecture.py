"""The tree of DESIGN: who may import whom, which names are known where, what is a package."""

import ast
import re
from collections import Counter
from collections.abc import Iterable
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
    source,
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
    "desim.sandbox.child",
    "desim.sandbox",
    "desim.schema",
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
    "desim.reports.elements",
    "desim.reports.record",
    "desim.reports.sweep",
    "desim.reports",
    "desim.ui.forms",
    "desim.ui.ending",
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


@pytest.mark.parametrize("room", ROOMS)
def test_imports_are_absolute(room: str) -> None:
    """The other tests of this file do not read relative imports."""
    relative = [
        (str(file.relative_to(ROOT)), node.lineno)
        for file in files(room)
        for node in source(file).imports
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


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


def test_the_clock_of_a_run_is_moved_in_two_modules() -> None:
    """`replay` repeats past decisions; `session` plays and records for drivers and `caller`."""
    moved = re.compile(r"run\.advance\(|Run\(.*\)\.advance\(")
    rooms = ("desim", "models", "ledgers", "policies")
    found = {
        module_name(file)
        for room in rooms
        for file in files(room)
        if moved.search(file.read_text(encoding="utf-8"))
    }
    assert found == {"desim.episodes.replay", "desim.episodes.session"}


def test_only_three_rooms_print_with_rich() -> None:
    """`show` turns tables into text, and `cli` and `ui` print; other rooms build tables."""
    rooms = {ROOT / "desim" / room for room in ("show", "cli", "ui")}
    users = [
        file
        for room in ("desim", "models", "ledgers", "policies")
        for file in files(room)
        if re.search(r"^ *(from|import) rich\b", file.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert [file for file in users if not rooms & {*file.parents}] == []


def test_desim_itself_imports_the_modules_that_define_a_name() -> None:
    """`from desim import Episode` is for models, policies, experiments and users.

    But for `Model.preset`, which is called by these: the catalog is a layer above `Model`.
    """
    users = [module for module in names("desim") if "desim" in imported(module)]
    assert users == ["desim.core.model"]


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

#: Names that say nothing of what a helper returns.
VAGUE = {"_text", "_read", "_shown", "_value", "_line"}


def doubles(held: Iterable[str]) -> set[str]:
    """Return what occurs more than once."""
    return {name for name, n in Counter(held).items() if n > 1}


def test_public_classes_of_desim_have_names_of_their_own() -> None:
    """No two have one name."""
    assert doubles(name for file in files("desim") for name in source(file).classes) == set()


def test_modules_of_desim_have_names_of_their_own() -> None:
    """A command may have the name of a module that it calls."""
    commands = ROOT / "desim" / "cli"
    others = [file for file in files("desim") if commands not in file.parents]
    stems = [file.stem for file in others if not file.stem.startswith("__")]
    assert doubles(stems) == set()
    assert doubles(f.stem for f in files("desim") if commands in f.parents) <= {"__init__"}


@pytest.mark.parametrize("room", ROOMS)
def test_helpers_have_names_that_say_what_they_return(room: str) -> None:
    """Not `_text`, `_read` and the like."""
    found: dict[str, set[str]] = {}
    for file in files(room):
        if vague := source(file).functions & VAGUE:
            found.setdefault("/".join(file.relative_to(ROOT).parts[:2]), set()).update(vague)
    assert found == {}


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


@pytest.mark.parametrize("line", ["models.reasoning", "reasoning/small", "ReasoningTasks()"])
def test_a_model_whose_name_is_a_word_is_found_where_it_is_a_name(line: str) -> None:
    """The word alone is none."""
    assert naming("reasoning").search(line)
    assert not naming("reasoning").search('{"reasoning": "Complex Reasoning"}')


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


@pytest.mark.parametrize("room", ROOMS)
def test_every_module_has_a_docstring(room: str) -> None:
    """It says what the module is for."""
    silent = [file for file in files(room) if not source(file).docstring]
    assert silent == []
