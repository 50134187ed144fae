"""The function that a formula's program is about: the last one of its source."""

import ast
import warnings

from attrs import frozen

#: Characters of a program that is parsed at most.
_LONGEST = 200_000

_Function = ast.FunctionDef | ast.AsyncFunctionDef

#: A parameter or a field: its name, and its annotation or None.
Named = tuple[str, str | None]


@frozen
class Target:
    """A function or a method.

    Attributes:
        function: Its name.
        owner: The class of a method, else empty.
        arguments: Its positional parameters, without the object of a method.
        fields: The annotated fields of the class of a method.
        is_last: Whether it is the last statement of the source.
    """

    function: str
    owner: str
    arguments: tuple[Named, ...]
    fields: tuple[Named, ...]
    is_last: bool

    @property
    def name(self) -> str:
        """The function as a call names it: "function" or "Class.method"."""
        return f"{self.owner}.{self.function}" if self.owner else self.function


def target_of(source: str) -> Target | None:
    """Return the last function of a source, possibly a method; None if it cannot be parsed.

    The source of an item is parsed and not run. A language model's is parsed in the sandbox.
    """
    if len(source) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in texts
            return _last_function(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _last_function(tree: ast.Module) -> Target | None:
    found: Target | None = None
    for node in tree.body:
        if isinstance(node, _Function):
            found = Target(node.name, "", _arguments(node), (), node is tree.body[-1])
        elif isinstance(node, ast.ClassDef):
            found = _method(node, is_last=node is tree.body[-1]) or found
    return found


def _method(owner: ast.ClassDef, *, is_last: bool) -> Target | None:
    methods = [node for node in owner.body if isinstance(node, _Function)]
    if not methods:
        return None
    last = methods[-1]
    arguments = tuple(one for one in _arguments(last) if one[0] not in ("self", "cls"))
    is_last = is_last and last is owner.body[-1]
    return Target(last.name, owner.name, arguments, _fields(owner), is_last)


def _arguments(function: _Function) -> tuple[Named, ...]:
    given = (*function.args.posonlyargs, *function.args.args)
    return tuple((one.arg, _annotation(one.annotation)) for one in given)


def _fields(owner: ast.ClassDef) -> tuple[Named, ...]:
    return tuple(
        (node.target.id, _annotation(node.annotation))
        for node in owner.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    )


def _annotation(node: ast.expr | None) -> str | None:
    return None if node is None else ast.unparse(node)
