"""The end of a game on the page: place, course, rules, another game."""

import asyncio
from collections.abc import Callable
from typing import Any

from nicegui import ui

from desim.engine.run.executors import in_thread
from desim.errors import DesimError
from desim.show.labels import capitalised, value_text
from desim.ui.browser.decision_charts import chart_options
from desim.ui.browser.widgets import heading, show_table
from desim.ui.ending import Sitting
from desim.ui.history import Series
from desim.ui.texts import metrics_table, seats_text


class EndPanel:
    """The end of a game in one tab, which fills as the baselines play.

    Attributes:
        sitting: The page's games.
        end: The facts.
        changed: Shows the tab anew, after another game has begun.
    """

    def __init__(self, sitting: Sitting, changed: Callable[[], None]) -> None:
        self.sitting, self.end, self.changed = sitting, sitting.end, changed
        self.end.start()
        self._shown: Any = None

    def build(self) -> None:
        """Create the elements."""
        self._shown = self._state()  # before, as baselines play meanwhile
        with ui.element("section").classes("panel stack gap-2").props("role=status"):
            self._head()
        with ui.element("div").classes("end-grid"):
            for show, name in (
                (self._course, "course"),
                (self._next, "next"),
                (self._ranking, "ranking"),
                (self._figures, "figures"),
            ):
                with ui.element("section").classes(f"panel stack gap-2 min-w-0 end-{name}"):
                    show()

    def update(self) -> None:
        """Show what has been found since the last call."""
        if (state := self._state()) != self._shown:
            self._shown = state
            for part in (self._head, self._ranking, self._course):
                part.refresh()

    def _state(self) -> tuple[int, int]:
        return len(self.end.comparison.played), len(self.end.course)

    @ui.refreshable_method
    def _head(self) -> None:
        end = self.end
        heading(end.heading)
        with ui.row().classes("items-baseline gap-x-6 gap-y-1"):
            ui.label(f"You were the {seats_text(end.model, end.seats)}")
            for name, text in end.scores.items():
                with ui.row().classes("gap-1 items-baseline"):
                    ui.label(capitalised(name)).classes("text-sm text-gray-600")
                    label = ui.label(text).classes("text-xl font-bold")
                    if name == "your score":
                        label.props("data-score")
        ui.label(end.place).props("data-place")
        if end.comparison.done:
            ui.label(end.rank).props("data-rank")

    def _next(self) -> None:
        heading("Another game")
        end, seed = self.end, self.end.episode.header.seed
        with ui.row().classes("gap-2"):
            self._button("Play again, same seed", "again", seed)
            self._button(f"Play seed {seed + 1}", "next_seed", seed + 1)
        ui.label(f"Your game is recorded in {end.file}. To replay it:").classes("help")
        ui.label(f"desim replay {end.file}").classes("font-mono text-sm wrap")
        ui.label("To use your answers as a policy:").classes("help")
        ui.label(f"--policy replay,file={end.file}").classes("font-mono text-sm wrap")

    def _button(self, text: str, act: str, seed: int) -> None:
        button = ui.button(text, on_click=lambda: self._again(seed))
        button.props(f'no-caps outline data-act="{act}"')

    async def _again(self, seed: int) -> None:
        try:
            await asyncio.wrap_future(in_thread(self.sitting.again, self.end.file, seed))
        except (DesimError, OSError) as fault:
            ui.notify(str(fault), type="negative")
            return
        self.changed()

    @ui.refreshable_method
    def _course(self) -> None:
        heading("How it went", 2)
        column, courses = self.end.courses.column, self.end.shown_courses
        if self.end.courses.declared is None:
            ui.label("The world declares no series of its score.").classes("help")
        elif self.end.course:
            most = max(map(len, courses.values()))
            lines = [
                Series(name, [*values, *[None] * (most - len(values))], column.unit)
                for name, values in courses.items()
            ]
            axis = Series(column.period, range(1, most + 1))
            chart = ui.echart(chart_options(lines, axis, title=column.title("")))
            finals = "; ".join(f"{name} {value_text(v[-1])}" for name, v in courses.items())
            chart.classes("end-chart").props("role=img data-course")
            chart.props["aria-label"] = f"Chart: {column.title('')}; at the end {finals}"

    @ui.refreshable_method
    def _ranking(self) -> None:
        comparison = self.end.comparison
        heading("Compared with the baselines")
        if comparison.note:
            ui.label(comparison.note).classes("help").props("data-note")
            return
        show_table(comparison.ranked(self.end.episode), mark="you", page=0)
        for note in comparison.notes:
            ui.label(note).classes("help")
        if not comparison.done:
            with ui.row().classes("items-center"):
                ui.spinner()
                played, of = len(comparison.played), len(comparison.contenders)
                ui.label(f"{played} of {of} baselines have played")

    def _figures(self) -> None:
        heading("Figures of the game")
        show_table(metrics_table(self.sitting.game, self.end.episode))
