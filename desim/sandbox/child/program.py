"""Runs the text of a program in one of three ways, and writes its outcome as JSON.

The reader of the result does not trust this module: from its first statement on, the program can
change everything that the module uses.
"""

from __future__ import annotations

import os
import sys

# The module json takes longer to load than a program to run.
try:
    from _json import encode_basestring_ascii as quoted
except ImportError:  # an interpreter without the accelerator
    from json.encoder import encode_basestring_ascii as quoted

TYPE_CHECKING = False  # typing itself takes 13 ms to load, half as long as a program
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


#: Values within a value, one in the other.
_DEEPEST = 20

_LONGEST_LINE = 500
_SPECIAL = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}

_TREE_ONLY = 0x400  # ast.PyCF_ONLY_AST; the module ast itself takes 5 ms to load


class NoValue(Exception):
    """The program has no value."""


def run(order: dict[str, Any]) -> None:
    """Run the program of an order and write the answer; does not return."""
    ways = {"program": _program, "calls": _calls, "block": _block}
    way = ways[order["way"]]
    write, leave, result = os.write, os._exit, order["result"]
    try:
        answer = way(order)
    except BaseException as error:  # noqa: BLE001 - SystemExit and the like are failures too
        answer = f'{{"error":{quoted(_line_of(error))}}}'
    data = answer.encode()
    while data:
        data = data[write(result, data) :]
    # No exit functions, no finalizers, no buffers of the program.
    leave(0)


# -- the value of the last statement ---------------------------------------------------------------


def _program(order: dict[str, Any]) -> str:
    value = _value_of(order["source"])
    if not _can_be_sent(value):
        return '{"unsendable":true}'
    try:
        number = float(value)
    except Exception:  # noqa: BLE001 - whatever an object's own conversion raises
        number = None
    if isinstance(value, (bool, int, float)):
        value = _type_name(value) if number is None else number
    elif value is not None and not isinstance(value, str):
        value = _type_name(value)
    return f'{{"value":{_as_json(value)},"number":{_as_json(number)}}}'


def _value_of(source: str) -> Any:
    """Run all statements but the last, then the value part of that.

    So `x = 5` has the value 5, `x += 2` the value 2, and `return y` works outside a function.
    """
    import _ast

    body = compile(source, "<program>", "exec", _TREE_ONLY, dont_inherit=True).body
    last = getattr(body[-1], "value", None) if body else None
    scope = _fresh_scope(source)
    exec(_compiled(_ast.Module(body=body[:-1], type_ignores=[]), "exec"), scope)  # noqa: S102
    if last is None:
        raise NoValue("the last statement has no value")
    return eval(_compiled(_ast.Expression(last), "eval"), scope)  # noqa: S307


def _compiled(program: Any, mode: str) -> Any:
    return compile(program, "<program>", mode, dont_inherit=True)


def _can_be_sent(value: Any) -> bool:
    """Whether another process could receive the value; functions and own classes it could not."""
    if value is None or type(value) in {bool, int, float, str}:
        return True
    import pickle

    # The published code's receiver has no classes of the program.
    sys.modules["__main__"] = type(sys)("__main__")
    try:
        pickle.dumps(value)
    except Exception:  # noqa: BLE001 - pickling raises whatever an object's methods raise
        return False
    return True


def _fresh_scope(source: str) -> dict[str, Any]:
    """Return the names of a new main module.

    Random numbers start from a fixed seed, so that a program has the same value every time.
    """
    if "random" in source:
        import random

        random.seed(0)
    module = type(sys)("__main__")
    sys.modules["__main__"] = module
    return module.__dict__


# -- calls of a function ---------------------------------------------------------------------------


def _calls(order: dict[str, Any]) -> str:
    scope = _fresh_scope(order["source"])
    exec(_compiled(order["source"], "exec"), scope)  # noqa: S102
    answers = ",".join(
        _answer_of(scope, order["target"], arguments, fields)
        for arguments, fields in order["argument_sets"]
    )
    return f'{{"calls":[{answers}]}}'


def _answer_of(
    scope: dict[str, Any], target: str, arguments: dict[str, Any], fields: dict[str, Any]
) -> str:
    try:
        function = _target(scope, target, fields)
        return f'{{"value":{_as_json(function(**arguments))}}}'
    except BaseException as error:  # noqa: BLE001 - SystemExit and the like are failures too
        return f'{{"error":{quoted(_line_of(error))}}}'


def _target(scope: dict[str, Any], target: str, fields: dict[str, Any]) -> Any:
    owner, _, name = target.rpartition(".")
    return getattr(_object(scope[owner], fields), name) if owner else scope[name]


def _object(kind: Any, fields: dict[str, Any]) -> Any:
    """Return an object with these fields: by its constructor, or put in place without one."""
    try:
        return kind(**fields)
    except TypeError:
        made = kind.__new__(kind)
        for name, value in fields.items():
            setattr(made, name, value)
        return made


# -- what is printed -------------------------------------------------------------------------------


def _block(order: dict[str, Any]) -> str:
    """Run a program as a notebook does: print, and show the last expression unless it is None."""
    import _ast

    tree = compile(order["source"], "<program>", "exec", _TREE_ONLY, dont_inherit=True)
    body, scope = tree.body, _fresh_scope(order["source"])
    shown = body[-1].value if body and isinstance(body[-1], _ast.Expr) else None
    if shown is not None:
        tree.body = body[:-1]
    try:
        exec(_compiled(tree, "exec"), scope)  # noqa: S102
        if shown is not None:
            value = eval(_compiled(_ast.Expression(shown), "eval"), scope)  # noqa: S307
            if value is not None:
                print(repr(value))  # noqa: T201 - the program's own output
    finally:
        sys.stdout.flush()
    return '{"value":null}'


def _as_json(value: Any) -> str:
    """Return a value as JSON: mappings, sequences, texts, numbers; all else as its text.

    Raises:
        ValueError: The value is too deep.
    """
    return "".join(_parts(value, _DEEPEST))


def _parts(value: Any, depth: int) -> Iterator[str]:
    if depth < 0:
        raise ValueError("the value is too deep")
    if isinstance(value, dict):
        yield "{"
        for index, (key, each) in enumerate(value.items()):
            yield f"{',' if index else ''}{quoted(str(key))}:"
            yield from _parts(each, depth - 1)
        yield "}"
    elif isinstance(value, (list, tuple)):
        yield "["
        for index, each in enumerate(value):
            yield "," if index else ""
            yield from _parts(each, depth - 1)
        yield "]"
    else:
        yield _scalar(value)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        text = float.__repr__(value)
        return _SPECIAL.get(text, text)
    if isinstance(value, int) and value.bit_length() < 1_000:  # noqa: PLR2004 - fits a float
        return int.__repr__(value)
    return quoted(str(value))


def _type_name(value: Any) -> str:
    return f"({str(type(value).__name__)[:100]})"


def _line_of(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except BaseException:  # noqa: BLE001 - the program's own exception may raise again
        text = ""
    name = type(error).__name__
    return f"{name}: {text}"[:_LONGEST_LINE] if text else name[:_LONGEST_LINE]
