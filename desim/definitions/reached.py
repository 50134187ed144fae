"""The definitions that classes and functions use, directly or not, as one digest.

A definition is a class, a function or a constant at the top level of a module, with its whole body.
Its references are resolved by name: imports, names of its module, attributes of modules. The digest
covers its text and the definitions that it uses, but not the name of its module, so that it may
move. References by computed names are not followed; a policy class lists their targets in
`dependencies` (see `desim.Policy.dependencies`).
"""

import hashlib
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from attrs import define, field, frozen

from desim.definitions.module_files import data_files, digest, read_module
from desim.definitions.modules import (
    Module,
    ModulePlace,
    is_installed_file,
    is_ours,
    place_of,
)
from desim.definitions.syntax import Syntax

#: Packages of desim that cannot change a row: they show results, or start episodes.
_NO_ROWS = ("desim.adapters.", "desim.cli.", "desim.reports.", "desim.tracing.", "desim.ui.")

#: Installed packages that generate code of classes; their versions do not change a row.
_WRITERS = {"attr", "attrs", "msgspec"}

#: Rounds of labelling: in each, the label of a definition is hashed with those of its references.
#: Two definitions with equal names and texts are distinguished by references up to this depth.
_ROUNDS = 2

#: Digits of the digest of one definition, which only serves to name the changed ones.
_DIGITS = 12


#: The name of a statement outside definitions, for error texts.
_EFFECT = "a statement outside definitions"


@frozen
class Reached:
    """The code that was reached.

    Attributes:
        digest: A digest of all definitions and their references.
        definitions: A digest of the own text of each definition, by name; definitions of one name
            share a digest.
        packages: Installed packages that users' code uses, by their names in imports.
    """

    digest: str
    definitions: Mapping[str, str]
    packages: tuple[str, ...]


def reached(roots: Iterable[Any], left_out: Collection[str] = ()) -> Reached:
    """Return the definitions that some classes, functions and modules use, directly or not.

    Args:
        roots: Classes, functions and modules, or `module:Name` of one that is not imported. Those
            of Python itself and those inside functions are left out.
        left_out: Top-level packages whose definitions count by their names alone.

    Raises:
        UsageError: A source file cannot be read.
    """
    walk = _Walk(left_out)
    for root in roots:
        walk.enter(root)
    walk.follow()
    return Reached(
        digest=_together(sorted(set(_labels(walk.nodes).values()))),
        definitions=_by_name(walk.nodes),
        packages=tuple(sorted(walk.packages)),
    )


class _Key(NamedTuple):
    """A definition: its module and its name there; an effect has its number."""

    module: str
    name: str


class _Use(NamedTuple):
    """The targets of a reference.

    Attributes:
        keys: Definitions.
        text: The attributes after them, or the name of a target whose source is not read.
        package: The installed package of that name.
    """

    keys: tuple[_Key, ...]
    text: str = ""
    package: str = ""


@define
class _Node:
    """A reached definition.

    Attributes:
        file: The file that holds it.
        package: The package from which relative imports start there.
        syntax: Its text and references.
        uses: The targets of each of its references.
        data: Digests of the files beside the module that it names.
    """

    file: str
    package: str
    syntax: Syntax
    uses: list[_Use] = field(factory=list)
    data: list[str] = field(factory=list)


class _Walk:
    """Follows references from definition to definition.

    Args:
        left_out: Top-level packages whose sources are not read.

    Attributes:
        nodes: The definitions that were reached.
        packages: Installed packages that users' code uses.
    """

    def __init__(self, left_out: Collection[str] = ()) -> None:
        self._left_out = left_out
        self.nodes: dict[_Key, _Node] = {}
        self.packages: set[str] = set()
        self._waiting: list[_Key] = []
        self._modules: dict[str, Module | None] = {}
        self._places: dict[str, ModulePlace | None] = {}
        self._uses: dict[tuple[str, tuple[str, ...]], _Use] = {}
        #: Definitions whose data files were searched.
        self._read: set[_Key] = set()
        #: Installed packages whose sources are read, because they hold a model or a policy.
        self._installed: set[str] = set()

    def enter(self, root: Any) -> None:
        """Begin at a class with its bases, a function, or all definitions of a module."""
        if isinstance(root, ModuleType):
            self._begin(root.__name__)
            return
        if isinstance(root, str):
            self._begin(*root.split(":"))
            return
        for each in root.__mro__ if isinstance(root, type) else (root,):
            if "<" not in each.__qualname__:  # <locals>, <lambda>: see `code_digests`
                self._begin(each.__module__, each.__qualname__.partition(".")[0])

    def _begin(self, module: str, name: str = "") -> None:
        top = module.partition(".")[0]
        if top in sys.stdlib_module_names and top != "__main__":
            return
        self._installed.add(top)
        if found := self._module(module):
            # A class made by a call, such as `make_class`, may have another name.
            known = (name,) if name in found.definitions else tuple(found.definitions)
            self._waiting += (_Key(module, one) for one in known)

    def follow(self) -> None:
        """Follow the waiting references until nothing new is found."""
        while self._waiting:
            while self._waiting:
                key = self._waiting.pop()
                if key not in self.nodes:
                    self._visit(key)
            self._read_data()

    def _visit(self, key: _Key) -> None:
        module, place = self._module(key.module), self._place(key.module)
        assert module is not None
        assert place is not None
        syntax = (
            module.effects[int(key.name)] if key.name.isdigit() else module.definitions[key.name]
        )
        uses = [self._use(source or key.module, chain) for source, chain in syntax.references]
        self.nodes[key] = _Node(place.file, module.package, syntax, uses)
        for use in uses:
            self._waiting += use.keys
            if use.package and not is_ours(key.module):
                self.packages.add(use.package)

    def _use(self, module: str, chain: tuple[str, ...]) -> _Use:
        """Return the targets of a name in a module."""
        known = (module, chain)
        if known not in self._uses:
            self._uses[known] = _Use((), ".".join(chain))  # for cyclic imports of names
            self._uses[known] = self._resolved(module, chain)
        return self._uses[known]

    def _resolved(self, module: str, chain: tuple[str, ...]) -> _Use:
        if not self._is_read(module):
            return self._outside(module, chain)
        found = self._module(module)
        if not chain:
            return _Use(tuple(_Key(module, name) for name in found.definitions) if found else ())
        name, behind = chain[0], chain[1:]
        if found and (uses := [*self._bound(found, name, behind)]):
            return _joined(uses)
        if self._place(f"{module}.{name}"):
            return self._use(f"{module}.{name}", behind)
        return self._computed(found, chain) if found else _Use((), ".".join(chain))

    def _bound(self, module: Module, name: str, behind: tuple[str, ...]) -> Iterator[_Use]:
        """Yield the targets of a name of a module's top level: a definition, imports, or both."""
        if name in module.definitions:
            yield _Use((_Key(module.name, name),), ".".join(behind))
        for source, members in module.imports.get(name, ()):
            yield self._use(source, (*members, *behind))

    def _computed(self, module: Module, chain: tuple[str, ...]) -> _Use:
        """Return the targets of a name that `import *` or the module's `__getattr__` provides."""
        for star in module.stars:
            if (use := self._use(star, chain)).keys:
                return use
        if "__getattr__" in module.definitions and (loaded := sys.modules.get(module.name)):
            value = getattr(loaded, chain[0], None)
            source, name = (getattr(value, one, "") for one in ("__module__", "__qualname__"))
            if (source, name) != (module.name, chain[0]) and source and name:
                return self._use(source, (name, *chain[1:]))
        return _Use((), ".".join(chain))

    def _outside(self, module: str, chain: tuple[str, ...]) -> _Use:
        """Return the use of a target whose source is not read, by its name."""
        top = module.partition(".")[0]
        if is_ours(module):  # the module's name may change
            return _Use((), chain[-1] if chain else "")
        package = "" if top in sys.stdlib_module_names else top
        return _Use((), ".".join((module, *chain)), "" if package in _WRITERS else package)

    def _is_read(self, module: str) -> bool:
        if f"{module}.".startswith(_NO_ROWS):
            return False
        top = module.partition(".")[0]
        if top in self._left_out:
            return False
        if is_ours(module) or module == "__main__":
            return True
        place = None if top in sys.stdlib_module_names else self._place(module)
        if place is None or not (place.folders or place.file.endswith(".py")):
            return False
        return top in self._installed or not is_installed_file(place.file or place.folders[0])

    def _module(self, name: str) -> Module | None:
        """Return the source of a module; None for a namespace package or an unknown module."""
        if name not in self._modules:
            place = self._place(name) if self._is_read(name) else None
            found = read_module(name, place) if place and place.file.endswith(".py") else None
            self._modules[name] = found
            if found:
                self._import(found)
        return self._modules[name]

    def _import(self, module: Module) -> None:
        """Follow the effects of a module's import, beyond defining names."""
        self._waiting += (_Key(module.name, str(index)) for index in range(len(module.effects)))
        if is_ours(module.name):
            return
        # A user's module may import another one for its effects, such as registering a class.
        for source, members in (one for each in module.imports.values() for one in each):
            if not is_ours(source):
                self._module(source)
                self._module(".".join((source, *members)))
        for name, decorator in module.decorated:
            if any(not is_ours(key.module) for key in self._use(module.name, decorator).keys):
                self._waiting.append(_Key(module.name, name))

    def _place(self, name: str) -> ModulePlace | None:
        if name not in self._places:
            self._places[name] = place_of(name)
        return self._places[name]

    def _read_data(self) -> None:
        """Add the files named by modules that use `__file__`; Python files are followed."""
        readers = {key.module for key, node in self.nodes.items() if node.syntax.uses_file}
        for key, node in [*self.nodes.items()]:
            if key.module in readers and key not in self._read:
                self._read.add(key)
                folder = Path(node.file).parent
                for file in data_files(folder, node.syntax.texts):
                    inside = file.relative_to(folder)
                    if file.suffix == ".py":
                        self._begin(".".join((node.package, *inside.with_suffix("").parts)))
                    else:
                        node.data.append(f"{inside.as_posix()} {digest(file)}")


def _joined(uses: list[_Use]) -> _Use:
    """Return the use of a name that is bound in several ways, such as by `try` and `except`."""
    first = uses[0]
    keys = tuple(key for use in uses for key in use.keys)
    return _Use(keys, first.text, first.package) if len(uses) > 1 else first


def _labels(nodes: Mapping[_Key, _Node]) -> dict[_Key, str]:
    """Return for each definition a text that identifies it and all that it uses."""
    labels = {key: _together([_name(key), *_own(node)]) for key, node in nodes.items()}
    for _ in range(_ROUNDS):
        labels = {
            key: _together([labels[key], *_used(node, labels)]) for key, node in nodes.items()
        }
    return labels


def _own(node: _Node) -> Iterator[str]:
    yield node.syntax.digest
    yield from node.data


def _used(node: _Node, labels: Mapping[_Key, str]) -> Iterator[str]:
    for use in node.uses:
        yield use.text
        yield from (labels[key] for key in use.keys)


def _by_name(nodes: Mapping[_Key, _Node]) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for key, node in nodes.items():
        names = {one: one.name for use in node.uses for one in use.keys}
        text = _together([*_own(node), *_used(node, names)])
        found.setdefault(_name(key), set()).add(text)
    return {name: _together(sorted(each))[:_DIGITS] for name, each in sorted(found.items())}


def _name(key: _Key) -> str:
    return _EFFECT if key.name.isdigit() else key.name


def _together(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
