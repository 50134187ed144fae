"""What do the docstrings, the help texts and the catalogue say, as pages of the site?

The public names are those of `desim.__init__` by its groups, those that
`tests/golden/public_names.txt` lists below the top level, the protocols, the entry points of the
adapters, and what models and experiments import from ledgers.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path

import click
from attrs import frozen

import desim
from desim.catalog.summaries import ModelSummary, PolicySummary, summarise_catalog
from desim.cli.main import COMMANDS, GROUPS
from desim.cli.main import main as command_line

ROOT = Path(__file__).resolve().parent.parent

#: The page and the title of each group of names in the docstring of `desim`, by its first words.
_TASKS = {
    "A world": "world",
    "A policy": "policy",
    "One episode": "episode",
    "A record": "record",
    "Many episodes": "episodes",
    "Search, and the value of decisions": "search",
    "A world of one's own, checked": "check",
    "Pictures and pages": "pictures",
    "Errors": "errors",
}
#: The title and the modules or packages of each further page.
_ROOMS = {
    "model_protocols": (
        "Protocols of models",
        ["desim.core.model_protocols", "desim.core.reported"],
    ),
    "policy_protocols": (
        "Protocols of policies",
        ["desim.core.policy_protocols", "desim.core.roles"],
    ),
    "ledger_protocols": ("Protocols of ledgers", ["desim.core.ledger_protocols"]),
    "ledgers": ("Ledgers", ["ledgers"]),
    "monitoring": (
        "Monitoring, resources, random streams",
        ["desim.monitoring", "desim.resources", "desim.core.streams"],
    ),
    "statistics": ("Statistics", ["desim.statistics", "desim.studies.boards"]),
    "designs": ("Designs of experiments", ["desim.studies.designs"]),
    "composition": ("Several models on one clock", ["desim.composition"]),
    "lanes": ("Lanes", ["desim.lanes.lane_protocols", "desim.lanes"]),
    "model_calls": ("Calls of language models on record", ["desim.records"]),
    "sandbox": ("The sandbox", ["desim.sandbox"]),
    "games": ("A person's game", ["desim.ui"]),
    "adapters": ("Adapters", ["desim.adapters"]),
}
#: The modules of which every public definition is public.
_WHOLE = ("model_protocols", "reported", "policy_protocols", "ledger_protocols", "lane_protocols")
#: The names by which other libraries find a world, by module.
_ENTRY_POINTS = {
    "desim.adapters.gymnasium": ["SeatEnv", "env_id", "register_all"],
    "desim.adapters.gymnasium.lanes_env": ["LanesEnv"],
    "desim.adapters.pettingzoo": ["aec_env", "parallel_env", "SeatsAEC", "SeatsParallel"],
    "desim.adapters.openenv.server": ["serve"],
    "desim.adapters.verifiers": ["load_environment", "WorldEnv", "WorldTaskset"],
    "desim.adapters.inspect_ai": ["world_task"],
    "desim.adapters.mcp.serving": ["serve"],
    "desim.adapters.simopt": ["simopt_problem"],
}


@frozen
class PublicName:
    """A public name: where users import it from, and the page of the reference that has it."""

    module: str
    name: str
    page: str

    @property
    def path(self) -> str:
        """The name with its module."""
        return f"{self.module}.{self.name}"


# -- the reference ---------------------------------------------------------------------------------


@cache
def public_names() -> tuple[PublicName, ...]:
    """Return all public names, in the order of the pages of the reference."""
    found = []
    for title, names in _task_names().items():
        found += [PublicName("desim", name, _TASKS[title]) for name in names]
    for page, (_, rooms) in _ROOMS.items():
        paths = dict.fromkeys(path for room in rooms for path in _names_below(room))
        found += [PublicName(*path, page) for path in paths]
    return tuple(found)


def _task_names() -> dict[str, list[str]]:
    """Return the names of the top level by the group that the docstring of desim has them in."""
    text = str(desim.__doc__)
    groups = re.findall(r"^\* ([^:]+): (.*?)(?=^\* |\n\n|\Z)", text, re.DOTALL | re.MULTILINE)
    return {title: re.findall(r"`(\w+)`", names) for title, names in groups}


def _names_below(room: str) -> Iterator[tuple[str, str]]:
    """Yield module and name of each public name of a module, or of a package and below."""
    yield from _listed_names(room)
    if room == "ledgers":
        yield from _imported_from(room)
    elif room == "desim.adapters":
        yield from ((module, name) for module, names in _ENTRY_POINTS.items() for name in names)
    elif room.rpartition(".")[2] in _WHOLE:
        yield from ((room, name) for name in _definitions(_tree(room)))
    else:
        yield from ((room, name) for name in _exported(_tree(room)))


def _tree(module: str) -> ast.Module:
    path = ROOT / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8") if file.exists() else "")


def _imported_from(room: str) -> list[tuple[str, str]]:
    """Return what models and experiments import from a top folder, sorted."""
    return sorted(
        {
            (node.module, alias.name)
            for top in ("models", "experiments")
            for node in _imports(top)
            if node.module and node.module.startswith(f"{room}.")
            for alias in node.names
        }
    )


def _imports(top: str) -> Iterator[ast.ImportFrom]:
    """Yield the statements `from ... import ...` in the files of a top folder."""
    for file in sorted((ROOT / top).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                yield node


def _listed_names(room: str) -> Iterator[tuple[str, str]]:
    """Yield what `public_names.txt` lists of a module or of a package and below."""
    listed = (ROOT / "tests" / "golden" / "public_names.txt").read_text(encoding="utf-8")
    for line in listed.splitlines():
        module, _, names = line.partition(": ")
        if module == room or module.startswith(f"{room}."):
            yield from ((module, name) for name in names.split())


def _definitions(tree: ast.Module) -> list[str]:
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    names = [node.name for node in tree.body if isinstance(node, kinds)]
    return [name for name in names if not name.startswith("_")]


def _exported(tree: ast.Module) -> list[str]:
    """Return `__all__` of a package that has it."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def _reference_page(title: str, page: str) -> str:
    names = [name for name in public_names() if name.page == page]
    return "\n\n".join([f"# {title}", *(f"::: {name.path}" for name in names), ""])


def _index_page() -> str:
    """Return the page with all public names in the order of the alphabet."""
    names = sorted(public_names(), key=lambda one: (one.name.lower(), one.path))
    lines = [
        "# The public API",
        "",
        f"All {len(names)} public names, each with the module from which it is imported.",
        "",
        *_table(
            ["name", "module"],
            ([f"[`{one.name}`]({one.page}.md#{one.path})", f"`{one.module}`"] for one in names),
        ),
    ]
    return "\n".join([*lines, ""])


# -- optional members ------------------------------------------------------------------------------


_ABOUT_MEMBERS = """\
The members that a model, a policy, a state or a ledger may have in addition to the required ones,
which come first. Each belongs to a protocol, which is not a base class: a class offers it by
defining its members. The last column names the folders that use it."""


@frozen
class Member:
    """A member of a protocol."""

    protocol: str
    name: str
    text: str


#: More folders than these are not listed.
_USERS = 6
#: The title of each table of members, and the modules whose protocols it has.
_MEMBER_TABLES = {
    "Members of a model": ("desim.core.model_protocols", "desim.core.reported"),
    "Members of a policy": ("desim.core.policy_protocols",),
    "Members of models with ledgers, of states and of ledgers": ("desim.core.ledger_protocols",),
}


def members(module: str) -> list[Member]:
    """Return the members of the protocols of a module, in their order."""
    source = (ROOT / module.replace(".", "/")).with_suffix(".py").read_text(encoding="utf-8")
    return [
        Member(node.name, *member)
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and _is_protocol(node)
        for member in _members_of(node, source.splitlines())
    ]


def _is_protocol(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).startswith("Protocol") for base in node.bases)


def _members_of(node: ast.ClassDef, lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield name and text; without a text of its own, a member has that of its protocol."""
    about = _first_paragraph(ast.get_docstring(node))
    for item in node.body:
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            kind = "" if _is_property(item) else "()"
            yield item.name + kind, _first_paragraph(ast.get_docstring(item)) or about
        elif isinstance(item, ast.AnnAssign):
            yield ast.unparse(item.target), _comment_above(lines, item.lineno) or about


def _is_property(item: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(ast.unparse(each) == "property" for each in item.decorator_list)


def _first_paragraph(text: str | None) -> str:
    return " ".join((text or "").partition("\n\n")[0].split())


def _comment_above(lines: list[str], number: int) -> str:
    """Return the text of the lines with `#:` above a line, which is counted from 1."""
    found: list[str] = []
    for line in reversed(lines[: number - 1]):
        if not line.strip().startswith("#:"):
            break
        found.insert(0, line.strip().removeprefix("#:").strip())
    return " ".join(found)


@cache
def _users() -> dict[str, list[str]]:
    """Return by imported name the folders of desim that import it, without `desim/core`."""
    found: dict[str, set[str]] = defaultdict(set)
    for folder in sorted((ROOT / "desim").iterdir()):
        if folder.is_dir() and folder.name != "core":
            for node in _imports(f"desim/{folder.name}"):
                for alias in node.names:
                    found[alias.name].add(f"desim/{folder.name}")
    return {name: sorted(folders) for name, folders in found.items()}


def _members_page() -> str:
    lines = [
        "# Optional members",
        "",
        _ABOUT_MEMBERS,
    ]
    for title, modules in _MEMBER_TABLES.items():
        rows = [_member_row(each) for module in modules for each in members(module)]
        heads = ["member", "what it is", "protocol", "used by"]
        lines += ["", f"## {title}", "", *_table(heads, rows)]
    return "\n".join([*lines, ""])


def _member_row(member: Member) -> list[str]:
    page = next(one for one in public_names() if one.name == member.protocol)
    users = _users().get(member.protocol, ["desim/core"])
    return [
        f"`{member.name}`",
        member.text,
        f"[`{member.protocol}`]({page.page}.md#{page.path})",
        "most of desim" if len(users) > _USERS else ", ".join(f"`{user}`" for user in users),
    ]


# -- the command line ------------------------------------------------------------------------------


def help_text(path: Iterable[str]) -> tuple[click.Command, str]:
    """Return a command and its help, 80 columns wide; *path* is without `desim`."""
    command: click.Command = command_line
    context = _context(command, "desim")
    for name in path:
        found = command.get_command(context, name) if isinstance(command, click.Group) else None
        if found is None:
            raise LookupError(f"desim has no command {name!r}")
        command, context = found, _context(found, name, context)
    return command, command.get_help(context)


def _context(
    command: click.Command, name: str, parent: click.Context | None = None
) -> click.Context:
    width = {"terminal_width": 80, "max_content_width": 80}
    return click.Context(command, parent, name, **width, **command.context_settings)


def _commands_page() -> str:
    lines = ["# The command line", "", *_help_block(()), ""]
    for folder, title in GROUPS.items():
        lines += [f"## {title}", ""]
        for name, (module, _) in COMMANDS.items():
            if module.startswith(f"{folder}."):
                lines += _command_lines((name,))
    return "\n".join(lines)


def _command_lines(path: tuple[str, ...]) -> Iterator[str]:
    """Yield the help of a command and of the commands below it."""
    yield from (f"### desim {' '.join(path)}", "", *_help_block(path), "")
    command, _ = help_text(path)
    if isinstance(command, click.Group):
        for name in command.commands:
            yield from _command_lines((*path, name))


def _help_block(path: Iterable[str]) -> list[str]:
    return ["```text", help_text(path)[1], "```"]


# -- worlds ----------------------------------------------------------------------------------------


_ABOUT_WORLDS = """\
The shipped worlds: what you decide, the presets (the first one is the default), and the policies.
`desim list MODEL` prints the same for any world, also for one of your own."""


def _worlds_page() -> str:
    catalog = summarise_catalog()
    lines = [
        "# Worlds and presets",
        "",
        _ABOUT_WORLDS,
        "",
        "## Policies of every world",
        "",
        *_policy_table(catalog.policies),
    ]
    for name, model in catalog.models.items():
        lines += ["", *_world_lines(name, model)]
    return "\n".join([*lines, ""])


def _world_lines(name: str, model: ModelSummary) -> list[str]:
    presets = [[f"`{preset}`", model.warnings.get(preset, "")] for preset in model.presets]
    roles = [
        [f"`{role}`", "yes" if summary.default else "", f"`{action}`", text]
        for role, summary in model.roles.items()
        for action, text in summary.actions.items()
    ]
    own = [*_policy_table(model.policies)] if model.policies else ["It has no policies of its own."]
    return [
        f"## {name}",
        "",
        f"{model.text} Its page: [{name}](../models/{name}/README.md).",
        "",
        *_table(["preset", "remark"], presets),
        "",
        *_table(["role", "default", "action", "what it does"], roles),
        "",
        *own,
        "",
        "Its baselines: " + ", ".join(f"`{spec}`" for spec in model.baselines) + ".",
    ]


def _policy_table(policies: Mapping[str, PolicySummary]) -> Iterator[str]:
    rows = (
        [f"`{name}`", one.text, ", ".join(f"`{a}`" for a in one.arguments), one.knows]
        for name, one in policies.items()
    )
    return _table(["policy", "what it does", "arguments", "knows"], rows)


def _table(heads: list[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown, whose cells are texts in Markdown on one line."""
    for cells in (heads, ["---"] * len(heads), *rows):
        yield "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    """Return the text of a cell: what would end the cell or begin an element is escaped."""
    plain = " ".join(text.split()).replace("|", "\\|")
    parts = re.split(r"(`[^`]*`)", plain)
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]
    return "".join(parts)


#: The text of each generated page, by its path.
GENERATED: dict[str, Callable[[], str]] = {
    "reference/index.md": _index_page,
    "reference/worlds.md": _worlds_page,
    "reference/commands.md": _commands_page,
    "reference/members.md": _members_page,
    **{
        f"reference/{page}.md": partial(_reference_page, title, page)
        for title, page in _TASKS.items()
    },
    **{
        f"reference/{page}.md": partial(_reference_page, title, page)
        for page, (title, _) in _ROOMS.items()
    },
}
