"""The desk of the page: on the left what somebody sees, on the right what they can do."""

from collections.abc import Sequence
from typing import Any

from nicegui import ui

from desim.doors.figures import answer_line, laid_out
from desim.doors.forms import Form, action_tag, filled, forms
from desim.doors.game import View
from desim.doors.inputs import Act, show_form
from desim.doors.pieces import heading, show_section
from desim.doors.words import told
from desim.kernel import Option, Role

__all__ = ["show_desk"]

#: Options that are shown before somebody asks for more.
_OFFERED = 8


def show_desk(view: View, role: Role, act: Act) -> None:
    """Show the open decision of a view.

    Args:
        view: The game as it stands.
        role: Of the seat that decides.
        act: Answers the decision.
    """
    with ui.element("div").classes("grid grid-cols-1 lg:grid-cols-5 gap-4 items-start w-full"):
        with ui.element("section").classes("panel lg:col-span-3 stack gap-3 min-w-0"):
            heading("What you see")
            show_section(laid_out(view.observation, role.sees))
        with ui.element("section").classes("panel lg:col-span-2 stack gap-3 min-w-0"):
            heading("What you can do").props("tabindex=-1 id=actions")
            _options(view.options, role, act)
            _actions(view.options, role, act)


def _options(options: Sequence[Option], role: Role, act: Act) -> None:
    complaint = ui.label().classes("complaint").props("role=alert")
    numbered = list(enumerate(options))
    for number, option in numbered[:_OFFERED]:
        _option(number, option, role, act, complaint)
    if rest := numbered[_OFFERED:]:
        more = ui.expansion(f"{len(rest)} more").classes("w-full line").props("dense")
        with more, ui.element("div").classes("stack gap-3 pt-2"):
            for number, option in rest:
                _option(number, option, role, act, complaint)


def _option(number: int, option: Option, role: Role, act: Act, complaint: ui.label) -> None:
    async def take() -> None:
        complaint.text = await act(option.action)

    button = ui.button(on_click=take).props("no-caps outline")
    button.classes("option w-full").props(f'data-option="{number}"')
    with button, ui.column().classes("gap-0 w-full"):
        ui.label(answer_line(option.action, role.does)).classes("font-semibold")
        note = f"{option.note} · worth {told(option.worth)}".removeprefix(" · ")
        ui.label(note).classes("note")


def _actions(options: Sequence[Option], role: Role, act: Act) -> None:
    """Show all actions: those without values as buttons, unless they stand among the options."""
    shapes = forms(role)
    offered = {action_tag(option.action) for option in options}
    bare = [form for form in shapes if not form.fields and form.tag not in offered]
    if bare:
        heading("At once", 3)
        with ui.row().classes("gap-2"):
            for form in bare:
                _button(form, act)
    written = [form for form in shapes if form.fields]
    if written:
        heading("Or fill in yourself" if bare or options else "Fill in", 3)
    for form in written:
        panel = ui.expansion(form.label, caption=form.text, value=len(shapes) == 1)
        panel.classes("w-full line").props(f'dense data-form="{form.tag}"')
        with panel, ui.column().classes("w-full gap-4 pt-2"):
            show_form(form, filled(form, options), act)


def _button(form: Form, act: Act) -> None:
    async def take() -> None:
        action: dict[str, Any] = {"do": form.tag}
        if wrong := await act(action):
            ui.notify(wrong, type="negative")

    button = ui.button(form.label, on_click=take).props("no-caps outline dense")
    button.props(f'data-act="{form.tag}"').tooltip(form.text)
