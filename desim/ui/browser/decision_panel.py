"""The open decision on the page: options and actions.

A form has one input for each field, a button that sends it, and its error.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from nicegui import ui

from desim.core.roles import Option, Role
from desim.errors import DesimError
from desim.schema.codecs import tagged_object
from desim.schema.wire_types import TAG
from desim.show.labels import value_text
from desim.ui.browser.widgets import complain, expansion, heading, missing_help
from desim.ui.forms import Field, Form, forms, initial_texts, read_form
from desim.ui.layout import action_text
from desim.ui.view import GameView

#: Answers the open decision with an action; returns an error text, empty without an error.
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


#: Options that are shown at once; the others are behind a button.
_SHOWN = 8


def show_decision(view: GameView, act: Act) -> None:
    """Show what can be answered to the open decision of a view.

    Args:
        view: The view.
        act: Answers the decision.
    """
    role = view.spec
    assert role is not None
    with ui.element("section").classes("panel act stack gap-3 min-w-0"):
        heading("What you can do").props("tabindex=-1 id=actions")
        missing_help(view.options_error)
        _options(view.options, role, act)
        _actions(view.options, role, act)


def _options(options: Sequence[Option], role: Role, act: Act) -> None:
    complaint = ui.label().classes("complaint").props("role=alert")
    numbered = list(enumerate(options))
    for number, option in numbered[:_SHOWN]:
        _option(number, option, role, act, complaint)
    if rest := numbered[_SHOWN:]:
        with expansion(f"{len(rest)} more"), ui.element("div").classes("stack gap-3 pt-2"):
            for number, option in rest:
                _option(number, option, role, act, complaint)


def _option(number: int, option: Option, role: Role, act: Act, complaint: ui.label) -> None:
    async def take() -> None:
        complain(complaint, await act(option.action))

    button = ui.button(on_click=take).props("no-caps outline")
    button.classes("option w-full").props(f'data-option="{number}"')
    with button, ui.column().classes("gap-0 w-full"):
        ui.label(action_text(option.action, role.action)).classes("font-semibold")
        note = f"{option.note} · value {value_text(option.value)}".removeprefix(" · ")
        ui.label(note).classes("note")


def _actions(options: Sequence[Option], role: Role, act: Act) -> None:
    """Show the actions: those with values as forms, others as buttons unless they are options."""
    known = forms(role)
    offered = {tagged_object(option.action)[TAG] for option in options}
    bare = [form for form in known if not form.fields and form.tag not in offered]
    if bare:
        heading("Without values", 3)
        with ui.row().classes("gap-2"):
            for form in bare:
                _button(form, act)
    filled_in = [form for form in known if form.fields]
    if filled_in:
        heading("Or fill in a form" if bare or options else "Fill in a form", 3)
    for form in filled_in:
        panel = expansion(form.label, form.text, is_open=len(known) == 1)
        panel.props(f'data-form="{form.tag}"')
        with panel, ui.column().classes("w-full gap-4 pt-2"):
            show_form(form, initial_texts(form), act)


def _button(form: Form, act: Act) -> None:
    async def take() -> None:
        action: dict[str, Any] = {TAG: form.tag}
        if wrong := await act(action):
            ui.notify(wrong, type="negative")

    button = ui.button(form.label, on_click=take).props("no-caps outline dense padding='2px 10px'")
    button.props(f'data-act="{form.tag}"').tooltip(form.text)
