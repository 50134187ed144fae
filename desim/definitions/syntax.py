"""A statement as a digest that no comment, docstring or layout changes, and the names it uses.

A name that the module binds at its top level is a reference: the digest holds its place only, as
the definition has a digest of its own and may move to another module. Import
statements do not count for the same reason. Annotations count, as fields of attrs classes and
arguments of specs are converted by them.
"""

import ast
import builtins
import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, TypeGuard

from attrs import frozen

#: A name as it is used: the module that a local import names, otherwise empty, and what follows,
#: such as ("np", "random", "default_rng").
Reference = tuple[str, tuple[str, ...]]

#: Imported names, each as the module that it comes from and the member of it; no member where the
#: name stands for the module itself.
Imports = Mapping[str, Reference]

#: The local names of a function: variables (None), or the targets of local imports.
_Scope = Mapping[str, Reference | None]

#: Fields of syntax trees that do not change what is done.
_NO_FIELDS = {"ctx", "kind", "type_comment", "type_ignores"}

#: Names of every module, which are never references.
_BUILTINS = {*dir(builtins), "__file__", "__name__", "__package__", "__spec__", "__path__"}

#: A longer text, or one with line breaks, is never taken for the name of a file.
_MAX_FILE_NAME = 200

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_CLOSED = (*_FUNCTIONS, ast.ClassDef)
_TARGETS = (ast.Store, ast.Del)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

#: Statements that have no effect beside those inside them.
_IDLE = (ast.Import, ast.ImportFrom, ast.Pass, ast.Try, ast.If, ast.With)

#: Methods that change what they are called on, though their result is used.
_CHANGING = {"pop", "popitem", "setdefault"}

_IDENTIFIER = re.compile(r"[^\W\d]\w*")


@frozen
class Syntax:
    """A digest and the references of some statements.

    Attributes:
        digest: The digest of their syntax tree, 32 hexadecimal digits.
        references: The names of the module's top level that they use, in the order of first use.
        texts: The short texts in them, which may name files.
        uses_file: Whether they use `__file__`.
    """

    digest: str
    references: tuple[Reference, ...]
    texts: tuple[str, ...]
    uses_file: bool


@frozen
class TopLevel:
    """The names of a module's top level, by which a name in it is resolved.

    Attributes:
        names: All names that it binds.
        package: The package from which relative imports start.
        has_stars: Whether it also binds names by `from ... import *`.
        has_walrus: Whether `:=` is anywhere in the module.
    """

    names: Collection[str]
    package: str
    has_stars: bool
    has_walrus: bool


def syntax_of(statements: Iterable[ast.stmt], top: TopLevel) -> Syntax:
    """Return what statements of a module's top level consist of."""
    walk = _Walk(top)
    for each in statements:
        walk.add(each, {})
    digest = hashlib.sha256("\0".join(walk.parts).encode("utf-8", "surrogatepass")).hexdigest()
    return Syntax(digest[:32], tuple(walk.references), tuple(walk.texts), walk.uses_file)


def imported_names(node: ast.AST, package: str) -> Iterator[tuple[str, Reference]]:
    """Yield the names that an import statement binds; "*" for all of a module."""
    if isinstance(node, ast.Import):
        for one in node.names:
            name = one.asname or one.name.partition(".")[0]
            yield name, (one.name if one.asname else name, ())
    elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
        start = package.split(".")[: -node.level + 1 or None] if node.level else []
        source = ".".join([*start, *filter(None, [node.module])])
        for one in node.names:
            yield one.asname or one.name, (source, (one.name,))


def is_type_checking(node: ast.AST) -> TypeGuard[ast.If]:
    """Return whether a statement is `if TYPE_CHECKING:`, whose body is never run."""
    if not isinstance(node, ast.If):
        return False
    return getattr(node.test, "id", getattr(node.test, "attr", "")) == "TYPE_CHECKING"


class _Walk:
    """Writes a syntax tree as a list of texts."""

    def __init__(self, top: TopLevel) -> None:
        self._top = top
        self._special: dict[type, Callable[[Any, _Scope], None]] = {
            ast.Import: self._nothing,
            ast.ImportFrom: self._nothing,
            ast.Pass: self._nothing,
            ast.Expr: self._expression,
            ast.If: self._if,
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.AnnAssign: self._annotated,
            ast.arg: self._argument,
            **dict.fromkeys(_FUNCTIONS, self._function),
            **dict.fromkeys(_COMPREHENSIONS, self._comprehension),
        }
        self.parts: list[str] = []
        #: The number of each reference.
        self.references: dict[Reference, int] = {}
        self.texts: dict[str, None] = {}
        self.uses_file = False

    def add(self, node: ast.AST, scope: _Scope) -> None:
        """Write a node; *scope* holds the names of the functions around it."""
        if special := self._special.get(type(node)):
            special(node, scope)
        else:
            self._fields(node, scope)

    def _fields(self, node: ast.AST, scope: _Scope) -> None:
        parts = self.parts
        parts.append(type(node).__name__)
        for name in _fields_of(type(node)):  # type: ignore[arg-type] # classes do hash
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                self.add(value, scope)
            elif isinstance(value, list):
                self._list(value, scope)
            else:
                parts.append(repr(value))

    def _list(self, values: list[Any], scope: _Scope) -> None:
        self.parts.append("[")
        for one in values:
            if isinstance(one, ast.AST):
                self.add(one, scope)
            else:
                self.parts.append(repr(one))
        self.parts.append("]")

    def _nothing(self, node: ast.AST, scope: _Scope) -> None:
        """Write nothing: the statement has no effect, or only names what others define."""

    def _expression(self, node: ast.Expr, scope: _Scope) -> None:
        if not _is_text(node):  # a docstring, or `...`
            self._fields(node, scope)

    def _if(self, node: ast.If, scope: _Scope) -> None:
        if is_type_checking(node):
            self._list(node.orelse, scope)
        else:
            self._fields(node, scope)

    def _constant(self, node: ast.Constant, _scope: _Scope) -> None:
        text = repr(node.value)
        if isinstance(node.value, frozenset):  # made by optimisers only; the order is by hash
            text = repr(sorted(map(repr, node.value)))
        self.parts.append(text)
        if isinstance(node.value, str) and 0 < len(node.value) <= _MAX_FILE_NAME:
            self.texts[node.value] = None

    def _name(self, node: ast.Name, scope: _Scope) -> None:
        self._use(node.id, (), scope)

    def _attribute(self, node: ast.Attribute, scope: _Scope) -> None:
        chain = [node.attr]
        inner = node.value
        while isinstance(inner, ast.Attribute):
            chain.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name):
            self._use(inner.id, tuple(reversed(chain)), scope)
        else:
            self._fields(node, scope)

    def _use(self, name: str, behind: tuple[str, ...], scope: _Scope) -> None:
        """Write a name with the attributes behind it, as a reference if it is one."""
        if name == "__file__":
            self.uses_file = True
        if name in scope:
            local = scope[name]
            found = local and (local[0], (*local[1], *behind))
        else:
            found = ("", (name, *behind)) if self._is_global(name) else None
        if found:
            self.parts.append(f"#{self.references.setdefault(found, len(self.references))}")
        else:
            self.parts.append(".".join((name, *behind)))

    def _is_global(self, name: str) -> bool:
        return name in self._top.names or (self._top.has_stars and name not in _BUILTINS)

    def _annotation(self, node: ast.expr | None, scope: _Scope) -> None:
        """Write an annotation; names in its texts are references as well."""
        if node is None:
            return
        self.add(node, scope)
        for inner in ast.walk(node):
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                for name in _IDENTIFIER.findall(inner.value):
                    self._use(name, (), scope)

    def _annotated(self, node: ast.AnnAssign, scope: _Scope) -> None:
        self.parts.append("AnnAssign")
        self.add(node.target, scope)
        self._annotation(node.annotation, scope)
        self._list([node.value] if node.value else [], scope)

    def _argument(self, node: ast.arg, scope: _Scope) -> None:
        self.parts.append(f"arg {node.arg}")
        self._annotation(node.annotation, scope)

    def _function(self, node: Any, scope: _Scope) -> None:
        """Write what is evaluated where a function is defined, and its body by its own names."""
        own = _locals(node, self._top.package, whole=self._top.has_walrus)
        inner = {**scope, **own}
        self.parts.append(f"{type(node).__name__} {getattr(node, 'name', '')}")
        if isinstance(node, ast.Lambda):
            self.add(node.args, scope)
            self.add(node.body, inner)
            return
        self._list(node.decorator_list, scope)
        self._list(getattr(node, "type_params", []), scope)
        self.add(node.args, scope)
        self._annotation(node.returns, scope)
        self._list(node.body, inner)

    def _comprehension(self, node: Any, scope: _Scope) -> None:
        targets = (name for each in node.generators for name in _stored(each.target))
        inner = {**scope, **dict.fromkeys(targets)}
        self.parts.append(type(node).__name__)
        # The first iterable is evaluated outside.
        self.add(node.generators[0].iter, scope)
        self._list(
            [part for each in node.generators[:1] for part in (each.target, *each.ifs)], inner
        )
        self.parts.extend(str(each.is_async) for each in node.generators)
        self._list(node.generators[1:], inner)
        results = (getattr(node, name, None) for name in ("elt", "key", "value"))
        self._list([one for one in results if one is not None], inner)


@cache
def _fields_of(kind: Any) -> tuple[str, ...]:
    return tuple(name for name in kind._fields if name not in _NO_FIELDS)


def _locals(node: Any, package: str, *, whole: bool) -> dict[str, Reference | None]:
    """Return the names of a function's own: None for variables, or what a local import names."""
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [one for one in (arguments.vararg, arguments.kwarg) if one]
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    imports: dict[str, Reference] = {}
    names, elsewhere = {one.arg for one in every}, set()
    for inner in _own_nodes(body, whole=whole):
        names.update(_bound(inner))
        if isinstance(inner, ast.Import | ast.ImportFrom):
            imports.update(imported_names(inner, package))
        elif isinstance(inner, ast.Global):
            elsewhere.update(inner.names)
    return {name: imports.get(name) for name in {*names, *imports} - elsewhere}


def _own_nodes(body: Iterable[ast.AST], *, whole: bool) -> Iterator[ast.AST]:
    """Yield the nodes of a function that are not inside functions or classes in it.

    Args:
        body: Its statements.
        whole: Whether expressions count in which no name is assigned.
    """
    waiting = [*body]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, _COMPREHENSIONS):  # only `:=` in them binds a name outside
            waiting += [one for one in ast.walk(node) if isinstance(one, ast.NamedExpr)]
        elif not isinstance(node, _CLOSED):
            children = _children(node)
            waiting += children if whole else [one for one in children if _may_assign(one)]


def _children(node: ast.AST) -> list[ast.AST]:
    found = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [one for one in value if isinstance(one, ast.AST)]
    return found


def _may_assign(node: ast.AST) -> bool:
    """Return whether a node is a statement, part of one, or a target."""
    return not isinstance(node, ast.expr) or isinstance(getattr(node, "ctx", None), _TARGETS)


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node itself binds, imports apart."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name


def _stored(target: ast.expr) -> Iterator[str]:
    return (one.id for one in ast.walk(target) if isinstance(one, ast.Name))


def bound_names(statement: ast.stmt) -> set[str]:
    """Return the names that a statement of the top level binds, imports apart."""
    return {name for node in _own_nodes([statement], whole=True) for name in _bound(node)}


def changed_names(statement: ast.stmt) -> set[str]:
    """Return the names whose values a statement may change: `NAME[0] = 1`, `NAME.update(other)`."""
    found: set[str] = set()
    for node in _own_nodes([statement], whole=True):
        match node:
            case ast.Attribute() | ast.Subscript() if not isinstance(node.ctx, ast.Load):
                found |= _base(node)
            case ast.Expr(value=ast.Call(func=ast.Attribute() as called)):
                found |= _base(called)
            case ast.Call(func=ast.Attribute(attr=name) as called) if name in _CHANGING:
                found |= _base(called)
    return found


def changes_members(statement: ast.stmt) -> bool:
    """Return whether a statement assigns to attributes or items of something."""
    members = (
        n
        for n in _own_nodes([statement], whole=True)
        if isinstance(n, ast.Attribute | ast.Subscript)
    )
    return any(not isinstance(node.ctx, ast.Load) for node in members)


def has_effect(statement: ast.stmt) -> bool:
    """Return whether a statement does more than to import and to describe."""
    leaves = (n for n in _own_nodes([statement], whole=True) if isinstance(n, ast.stmt))
    return any(not isinstance(n, _IDLE) and not _is_text(n) for n in leaves)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _base(node: ast.expr) -> set[str]:
    """Return the name at the start of NAME.attribute[index]."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()
