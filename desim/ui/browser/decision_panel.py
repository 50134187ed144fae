"""The open decision on the page: options and actions.

A form has one input for each field, a button that sends it, and its error.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec
from nicegui import ui

from desim.core.roles import Option, Role
from desim.errors import DesimError
from desim.schema.codecs import tagged_object
from desim.schema.wire_types import TAG
from desim.show.labels import capitalised, value_text
from desim.ui.browser.widgets import complain, expansion, heading, missing_help
from desim.ui.forms import Field, Form
from desim.ui.layout import action_text
from desim.ui.typed_texts import Confirmation, read_form
from desim.ui.view import GameView

#: Answers the open decision with an action; returns an error text, empty without an error.
Act = Callable[[Any], Awaitable[str]]
#: Known values from which on a list of them can be searched.
_SEARCHED = 12


def show_form(form: Form, act: Act) -> None:
    """Show the inputs of an action; one that is left empty gets the action's own default.

    When the action is refused, the inputs keep what was typed and the error is shown below them. A
    number outside its usual range is sent when the same answer is given again.
    """
    inputs: dict[str, Any] = {}
    complaint = ui.label().classes("complaint").props('role="alert" aria-live="assertive"')
    confirmation = Confirmation()

    async def submit() -> None:
        try:
            action = read_form(form, {key: _typed(each) for key, each in inputs.items()})
        except DesimError as fault:
            complain(complaint, str(fault))
            return
        complain(complaint, confirmation.question([form], action) or await act(action))

    for field in form.fields:
        inputs[field.key] = _input(field)
        if field.kind not in {"text", "json"}:
            inputs[field.key].on("keydown.enter", submit)
    button = ui.button(form.label, on_click=submit).props("no-caps unelevated")
    button.props(f'data-act="{form.tag}"').classes("self-start")
    complaint.move(target_index=-1)


def _typed(element: Any) -> str:
    value = element.value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return msgspec.json.encode(value).decode() if value else ""
    return "" if value is None else str(value)


def _input(field: Field) -> Any:
    label = field.label + (" *" if field.required and not field.nullable else "")
    parts = [field.text.rstrip(".")] if field.text and not field.pattern else []
    parts += [] if field.known or field.kind in {"flag", "choice"} else [capitalised(field.wanted)]
    hint = ". ".join(parts + ["May be left empty"] * (not field.required))
    element: Any
    match field.kind:
        case _ if field.known:
            element = _known_select(field, label)
        case "flag" if not field.nullable:
            element = ui.checkbox(label, value=bool(field.default))
        case "flag":
            element = ui.select(["", "true", "false"], value="", label=label)
        case "choice":
            element = ui.select(["", *map(str, field.choices)], value="", label=label)
        case "text" | "json":
            element = ui.textarea(label).props("autogrow rows=1")
        case _:
            element = ui.input(label)
            if field.kind in {"integer", "number"}:
                element.props("inputmode=decimal autocomplete=off")
    _describe(element, field, hint)
    return element


def _known_select(field: Field, label: str) -> ui.select:
    """Return a list of the known values, of which a field that holds a list takes several."""
    several = field.kind == "list"
    options: dict[Any, str] = {} if several else {"": ""}
    options |= {each.value: each.label for each in field.known}
    value: Any = [] if several else ""
    searched = len(field.known) > _SEARCHED
    return ui.select(options, value=value, label=label, multiple=several, with_input=searched)


def _describe(element: Any, field: Field, hint: str) -> None:
    element.props(f'data-field="{field.key}"')
    if isinstance(element, ui.checkbox):
        element.tooltip(hint)
        return
    element.props("outlined dense").classes("w-full").props["hint"] = hint


#: Options that are shown at once; the others are behind a button.
_SHOWN = 8


def show_decision(
    view: GameView, known: Sequence[Form], act: Act, open_hint: Callable[[], None] | None
) -> None:
    """Show what can be answered to the open decision of a view.

    Args:
        view: The view.
        known: The forms of its role.
        act: Answers the decision.
        open_hint: Shows the options, for a button; None shows them at once.
    """
    role = view.spec
    assert role is not None
    options = view.options if open_hint is None else ()
    with ui.element("section").classes("panel act stack gap-3 min-w-0"):
        with ui.row().classes("w-full items-center justify-between"):
            heading("What you can do").props("tabindex=-1 id=actions")
            if open_hint is not None and view.options:
                _hint_button(open_hint)
        missing_help(view.options_error)
        _options(options, role, act, ranked=not view.options_are_answers)
        _actions(known, options, act, _last_tag(view))


def _hint_button(open_hint: Callable[[], None]) -> None:
    """Show the button that opens the options, which the key H opens as well."""
    button = ui.button("Hint (H)", on_click=open_hint)
    button.props('no-caps outline dense data-act="hint" padding="2px 10px"')
    button.tooltip("Shows options with their estimates.")
    ui.keyboard(
        lambda event: open_hint() if event.action.keydown and event.key == "h" else None,
        ignore=["input", "select", "textarea"],
    )


def _options(options: Sequence[Option], role: Role, act: Act, *, ranked: bool) -> None:
    complaint = ui.label().classes("complaint").props("role=alert")
    numbered = list(enumerate(options))
    for number, option in numbered[:_SHOWN]:
        _option(number, option, role, complaint, act, ranked=ranked)
    if rest := numbered[_SHOWN:]:
        with expansion(f"{len(rest)} more"), ui.element("div").classes("stack gap-3 pt-2"):
            for number, option in rest:
                _option(number, option, role, complaint, act, ranked=ranked)


def _option(
    number: int, option: Option, role: Role, complaint: ui.label, act: Act, *, ranked: bool
) -> None:
    async def take() -> None:
        complain(complaint, await act(option.action))

    button = ui.button(on_click=take).props("no-caps outline")
    button.classes("option w-full").props(f'data-option="{number}"')
    with button, ui.column().classes("gap-0 w-full"):
        ui.label(action_text(option.action, role.action)).classes("font-semibold")
        value = f"value {value_text(option.value)}" if ranked else ""
        ui.label(" · ".join(filter(None, (option.note, value)))).classes("note")


def _last_tag(view: GameView) -> str:
    """Return the name of the action that the role gave last; empty before the first."""
    for step in reversed(view.steps):
        if step.role == view.role:
            return str(tagged_object(step.action)[TAG])
    return ""


def _actions(known: Sequence[Form], options: Sequence[Option], act: Act, last: str) -> None:
    """Show the form of an action, which is chosen from a list where there are several.

    The last answer's action is chosen at first. One without values that an option offers is no
    further choice.
    """
    offered = {tagged_object(option.action)[TAG] for option in options}
    shown = {form.tag: form for form in known if form.fields or form.tag not in offered}
    if not shown:
        return
    if options:
        heading("Or another answer", 3)

    def show(name: str) -> None:
        form = shown[name]
        place.clear()
        with place:
            if form.text:
                ui.label(form.text).classes("help wrap")
            show_form(form, act)

    chosen = last if last in shown else next(iter(shown)) if len(shown) == 1 else None
    if len(shown) > 1:
        labels = {name: form.label for name, form in shown.items()}
        select = ui.select(labels, value=chosen, label="Action", on_change=lambda e: show(e.value))
        select.props("outlined dense data-actions").classes("w-full")
    place = ui.element("div").classes("stack gap-4 w-full")
    if chosen:
        show(chosen)
