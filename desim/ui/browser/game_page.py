"""The page on which a person plays, one design for every model.

The game is in the server process. A tab shows the game's present view and answers with that view's
turn, so a tab that is reloaded or opened a second time shows the same game. Several persons use a
tab each: every tab shows the open decision, and any of them can answer it.
"""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

from nicegui import ui

from desim.engine.run.executors import in_thread
from desim.errors import UsageError
from desim.faults import RAISED
from desim.show.labels import class_text, label_text, value_text
from desim.ui.answer_effects import Change
from desim.ui.browser.decision_charts import show_charts
from desim.ui.browser.decision_panel import show_decision
from desim.ui.browser.end_panel import EndPanel
from desim.ui.browser.panels import (
    SeatStatus,
    rules_dialog,
    seat_status,
    show_briefing,
    show_effect,
    show_fact,
    show_key_figures,
    show_observation,
    show_time,
)
from desim.ui.browser.widgets import heading, missing_help, show_table
from desim.ui.ending import Sitting
from desim.ui.game import Game, Stale
from desim.ui.game_faults import Fault, error_text
from desim.ui.history import history
from desim.ui.layout import action_text, text_table
from desim.ui.texts import decisions_table, name_text, seats_text, shown_table

#: Seconds between checks for changes that this tab did not make.
_CHECK_SECONDS = 0.5


def game_name(game: Game) -> str:
    """Return the title of a game's world, or else the name of its model as words."""
    if briefing := game.model.texts(game.seats[0]).briefing:
        return briefing.title
    return class_text(game.header.model.rsplit(":", 1)[-1])


class Tab:
    """One tab of a browser.

    Attributes:
        sitting: The page's games.
        view: The view on the page.
        tab: The name of the table that is open.
    """

    def __init__(self, sitting: Sitting) -> None:
        self.sitting = sitting
        self.view = self.game.view
        self._status: SeatStatus | None = None
        self.tab = "Charts"
        self._waits = False
        self._ended: EndPanel | None = None

    @property
    def game(self) -> Game:
        """The game that the page shows now."""
        return self.sitting.game

    def build(self) -> None:
        """Create the elements of the page."""
        ui.colors(primary="#2f6f73", accent="#f0a202")
        ui.add_css(Path(__file__).with_name("style.css"))
        ui.query(".nicegui-content").classes("p-0")
        self._main = (
            ui.element("div").props("id=game").classes("w-full max-w-[1500px] mx-auto stack")
        )
        self._busy = ui.label("The others are deciding").classes("status").props("role=status")
        self._show()
        self._check()
        ui.timer(_CHECK_SECONDS, self._check)

    # -- changes -----------------------------------------------------------------------------------

    async def act(self, action: Any) -> str:
        """Answer the decision on the page; return an error text, empty without an error."""
        return await self._change(self.game.answer, self.view.turn, action)

    def open_hint(self) -> None:
        """Show the options of the open decision."""
        with contextlib.suppress(Stale):  # a newer view is shown by the next check
            self.game.hint_opened(self.view.turn)
        self._show()

    async def undo(self) -> None:
        """Take back the last decision."""
        if error := await self._change(self.game.undo, self.view.turn):
            ui.notify(error, type="negative")

    async def go_on(self) -> None:
        """Ask the policies of other roles again."""
        await self._change(self.game.go_on, self.view.turn)

    async def _change(self, change: Any, *arguments: Any) -> str:
        self._main.classes("pointer-events-none")
        try:
            await asyncio.wrap_future(in_thread(change, *arguments))
        except Stale as stale:
            with self._main:
                ui.notify(str(stale), type="warning", timeout=6000)
        except RAISED as error:
            self._show_if_changed()
            return error_text(error)
        finally:
            self._main.classes(remove="pointer-events-none")
        self._show()
        # The button that was clicked is gone. The focus scrolls this heading into view, and the
        # next press of the Tab key leads to the first option.
        with self._main:
            ui.run_javascript("document.getElementById('actions')?.focus()")
        return ""

    def _show_if_changed(self) -> None:
        if self.view is not self.game.view:
            self._show()

    def _check(self) -> None:
        """Show changes that this tab did not make: decisions of other roles or in other tabs."""
        self._busy.set_visibility(self.game.busy)
        if not self.game.busy and (self._waits or self.view is not self.game.view):
            self._show()
        if self._ended is not None:
            self._ended.update()

    # -- elements ----------------------------------------------------------------------------------

    def _show(self) -> None:
        self.view, self._waits = self.game.view, self.game.busy
        self._main.props(f"data-turn={self.view.turn}")
        self._main.clear()
        with self._main:
            self._status = self._seat_status()
            self._header()
            self._ended = None
            if self.view.episode is not None:
                self._ended = EndPanel(self.sitting, self._show)
                self._ended.build()
            elif self.view.fault is not None:
                self._fault(self.view.fault)
            elif self._waits:
                self._others()
            else:
                self._desk()
                return
            self._tables()

    def _desk(self) -> None:
        """Show the open decision: what is seen, the actions, then tables."""
        view = self.view
        if view.effect is None:
            show_briefing(self.game, view.role, game_name(self.game))
        with ui.element("div").classes("desk"):
            hint = None if self.game.hint_open else self.open_hint
            show_decision(view, self.game.forms(view.role), self.act, hint)
            with ui.element("div").classes("stack seen min-w-0"):
                if view.effect:
                    show_effect(view.effect)
                if self._status:
                    show_observation(self._status.rest, self._changes())
            with ui.element("div").classes("more min-w-0"):
                self._tables()

    def _seat_status(self) -> SeatStatus | None:
        view = self.view
        if not view.role or self._waits:
            return None
        return seat_status(self.game.model, view.role, view.observation, view.date)

    def _changes(self) -> dict[str, Change]:
        """Return the changes since the role's last decision, by label."""
        effect = self.view.effect
        return {change.label: change for change in effect.changes} if effect else {}

    def _header(self) -> None:
        view, status = self.view, self._status
        with ui.element("header").classes("panel bar"):
            with ui.element("div").classes("buttons"):
                self._undo_button()
                self._rules_button()
            heading(game_name(self.game), 1)
            show_fact("role", self._roles())
            if status:
                show_time(status, view.date)
            elif view.date:
                show_fact("date", view.date)
            show_fact("decision", value_text(len(view.steps) + bool(view.role)))
            if status:
                show_key_figures(status, self._changes())

    def _undo_button(self) -> None:
        if self.game.practice:
            button = ui.button("Undo", icon="undo", on_click=self.undo)
            button.props('no-caps outline dense data-act="undo"')
            button.set_enabled(bool(self.view.steps))

    def _rules_button(self) -> None:
        """Show the button that opens the rules, which the key R opens as well."""
        rules = rules_dialog(self.game)
        button = ui.button("Rules (R)", on_click=rules.open)
        button.props('no-caps outline dense data-act="rules"')
        ui.keyboard(
            lambda event: rules.open() if event.action.keydown and event.key == "r" else None,
            ignore=["input", "select", "textarea"],  # the focus is on a button after a click
        )

    def _roles(self) -> str:
        """Return the role that decides, or all of the person's roles if no decision is open."""
        model, role = self.game.model, self.view.role
        return name_text(model, role) if role else seats_text(model, self.game.seats)

    def _others(self) -> None:
        """Show that other roles are deciding."""
        with ui.element("section").classes("panel stack gap-2"):
            heading("Your turn comes when the others have decided")
            ui.spinner()

    def _fault(self, fault: Fault) -> None:
        """Show why the game has stopped, and how to go on."""
        with ui.element("section").classes("panel stack gap-3").props("data-fault"):
            heading(fault.heading).props("tabindex=-1 id=actions")
            ui.label(fault.text).classes("complaint").props("role=alert")
            if fault.again:
                button = ui.button("Ask it again", on_click=self.go_on)
                button.props('no-caps data-act="go_on"').classes("self-start")
                return
            ui.label(fault.way).classes("wrap")

    def _tables(self) -> None:
        names = ["Charts", "Decisions", *map(label_text, self.view.tables), "Help"]
        if self.tab not in names:
            self.tab = "Charts"
        with ui.element("section").classes("panel w-full min-w-0 stack gap-3"):
            missing_help(self.view.tables_error)
            with ui.tabs(on_change=self._open_tab).props(
                "align=left no-caps outside-arrows mobile-arrows"
            ) as tabs:
                for name in names:
                    ui.tab(name)
            tabs.set_value(self.tab)
            self._table()

    def _open_tab(self, event: Any) -> None:
        if event.value != self.tab:
            self.tab = event.value
            self._table.refresh()

    @ui.refreshable_method
    def _table(self) -> None:
        """Show the open tab only; the others are not built."""
        fixed = {"Charts": self._charts, "Decisions": self._decisions, "Help": self._help}
        with ui.element("div").classes("w-full stack gap-2").props("role=tabpanel"):
            if self.tab in fixed:
                fixed[self.tab]()
                return
            for name in self.view.tables:
                if label_text(name) == self.tab:
                    self._looked_up(name)

    def _looked_up(self, name: str) -> None:
        try:
            show_table(shown_table(self.game, name))
        except UsageError as error:
            missing_help(str(error))

    def _charts(self) -> None:
        steps = self.view.steps
        name = self.view.role or (steps[-1].role if steps else self.game.seats[0])
        mine, role = [step for step in steps if step.role == name], self.game.role(name)
        answers = [action_text(step.action, role.action) for step in mine]
        show_charts(history(role, mine, self.view.observation), answers)

    def _decisions(self) -> None:
        show_table(decisions_table(self.game, latest_first=True))

    def _help(self) -> None:
        header = self.game.header
        ui.label(f"Preset {header.preset}, seed {self.game.seed}").classes("help")
        for name in self.game.seats:
            heading(name_text(self.game.model, name), 3)
            rows = [
                {
                    "action": form.label,
                    "what it does": form.text,
                    "values": "; ".join(f"{f.label}: {f.text}" for f in form.fields),
                }
                for form in self.game.forms(name)
            ]
            show_table(text_table("Actions", rows))
