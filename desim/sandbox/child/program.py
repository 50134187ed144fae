"""Runs the text of a program in one of three ways, and writes its outcome as JSON.

The reader of the result does not trust this module: from its first statement on, the program can
change everything that the module uses.
"""

from __future__ import annotations

import os
import sys

from desim.sandbox.child.plain import as_json, line_of, quoted, type_name

TYPE_CHECKING = False  # typing itself takes 13 ms to load, half as long as a program
if TYPE_CHECKING:
    from typing import Any


_TREE_ONLY = 0x400  # ast.PyCF_ONLY_AST; the module ast itself takes 5 ms to load


class NoValue(Exception):
    """The program has no value."""


def run(order: dict[str, Any], protections: list[str]) -> None:
    """Run the program of an order and write the answer; does not return."""
    way = {"program": _program, "calls": _calls, "block": _block, "probe": _probe}[order["way"]]
    write, leave, result = os.write, os._exit, order["result"]
    try:
        answer = way(order, protections)
    except BaseException as error:  # noqa: BLE001 - SystemExit and the like are failures too
        answer = f'{{"error":{quoted(line_of(error))}}}'
    data = answer.encode()
    while data:
        data = data[write(result, data) :]
    # No exit functions, no finalizers, no buffers of the program.
    leave(0)


def _probe(_: dict[str, Any], protections: list[str]) -> str:
    return as_json({"value": protections})


# -- the value of the last statement ---------------------------------------------------------------


def _program(order: dict[str, Any], _: list[str]) -> str:
    value = _value_of(order["source"])
    if not _can_be_sent(value):
        return '{"unsendable":true}'
    try:
        number = float(value)
    except Exception:  # noqa: BLE001 - whatever an object's own conversion raises
        number = None
    if isinstance(value, (bool, int, float)):
        value = type_name(value) if number is None else number
    elif value is not None and not isinstance(value, str):
        value = type_name(value)
    return f'{{"value":{as_json(value)},"number":{as_json(number)}}}'


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


def _compiled(tree: Any, mode: str) -> Any:
    return compile(tree, "<program>", mode, dont_inherit=True)


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


def _calls(order: dict[str, Any], _: list[str]) -> str:
    scope = _fresh_scope(order["source"])
    exec(_compiled_text(order["source"]), scope)  # noqa: S102
    answers = ",".join(
        _answer_of(scope, order["target"], arguments, fields)
        for arguments, fields in order["argument_sets"]
    )
    return f'{{"calls":[{answers}]}}'


def _compiled_text(source: str) -> Any:
    return compile(source, "<program>", "exec", dont_inherit=True)


def _answer_of(
    scope: dict[str, Any], target: str, arguments: dict[str, Any], fields: dict[str, Any]
) -> str:
    try:
        function = _target(scope, target, fields)
        return f'{{"value":{as_json(function(**arguments))}}}'
    except BaseException as error:  # noqa: BLE001 - SystemExit and the like are failures too
        return f'{{"error":{quoted(line_of(error))}}}'


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


def _block(order: dict[str, Any], _: list[str]) -> str:
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
