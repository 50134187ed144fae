"""A form on the page: one input a field, the button that sends it, and its error."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nicegui import ui

from desim.errors import DesimError
from desim.ui.form_texts import read_form
from desim.ui.forms import Field, Form
from desim.ui.widgets import complain

__all__ = ["Act", "show_form"]

#: Answers the open decision with an action; returns an error text, empty if there is none.
Act = Callable[[Any], Awaitable[str]]


def show_form(form: Form, texts: Mapping[str, str], act: Act) -> None:
    """Show the inputs of an action, filled with texts by field.

    When the action is refused, the inputs keep what was typed and the error is shown below them.
    """
    inputs: dict[str, Any] = {}
    complaint = ui.label().classes("complaint").props('role="alert" aria-live="assertive"')

    async def submit() -> None:
        try:
            action = read_form(form, {name: _typed(each) for name, each in inputs.items()})
        except DesimError as fault:
            complain(complaint, str(fault))
            return
        complain(complaint, await act(action))

    for field in form.fields:
        inputs[field.name] = _input(field, texts.get(field.name, ""))
        if field.kind not in {"text", "json"}:
            inputs[field.name].on("keydown.enter", submit)
    button = ui.button(form.label, on_click=submit).props("no-caps unelevated")
    button.props(f'data-act="{form.tag}"')
    complaint.move(target_index=-1)


def _typed(element: Any) -> str:
    value = element.value
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _input(field: Field, text: str) -> Any:
    label = field.label + (" *" if field.required and not field.nullable else "")
    parts = (field.text.rstrip("."), field.hint[:1].upper() + field.hint[1:])
    hint = ". ".join(part for part in parts if part)
    element: Any
    match field.kind:
        case "flag" if not field.nullable:
            element = ui.checkbox(label, value=text == "true")
        case "flag":
            element = ui.select(["", "true", "false"], value=text, label=label)
        case "choice":
            choices = [str(choice) for choice in field.choices]
            if field.nullable or not field.required or text not in choices:
                choices = ["", *choices]
            element = ui.select(choices, value=text, label=label)
        case "text" | "json":
            element = ui.textarea(label, value=text).props("autogrow rows=1")
        case _:
            element = ui.input(label, value=text)
            if field.kind in {"integer", "number"}:
                element.props("inputmode=decimal autocomplete=off")
    _describe(element, field, hint)
    return element


def _describe(element: Any, field: Field, hint: str) -> None:
    element.props(f'data-field="{field.name}"')
    if isinstance(element, ui.checkbox):
        element.tooltip(hint)
        return
    element.props("outlined dense").classes("w-full").props["hint"] = hint
