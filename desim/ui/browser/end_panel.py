"""The end of a game on the page: place, course, rules, another game."""

import asyncio
from collections.abc import Callable
from typing import Any

from nicegui import ui

from desim.engine.run.executors import in_thread
from desim.errors import DesimError
from desim.show.labels import value_text
from desim.ui.browser.end_chart import end_chart
from desim.ui.browser.widgets import heading, show_table
from desim.ui.end_texts import (
    ended_text,
    head_facts,
    place_lines,
    rank_sentence,
)
from desim.ui.ending.score_place import ScorePlace
from desim.ui.game_end import Sitting
from desim.ui.game_texts import metrics_table
from desim.ui.part_texts import seats_text

#: Classes of a button of the end.
_BUTTON = "no-caps outline"


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
        with ui.element("section").classes("panel stack gap-2").props("role=status"):
            self._head()
        with ui.element("div").classes("end-grid"):
            for show, name in (
                (self._place, "place"),
                (self._next, "next"),
                (self._course, "course"),
                (self._ranking, "ranking"),
                (self._figures, "figures"),
            ):
                with ui.element("section").classes(f"panel stack gap-2 min-w-0 end-{name}"):
                    show()
        self._shown = self._state()

    def update(self) -> None:
        """Show what has been found since the last call."""
        if (state := self._state()) == self._shown:
            return
        self._shown = state
        for part in (self._head, self._place, self._ranking, self._course):
            part.refresh()

    def _state(self) -> tuple[Any, ...]:
        return len(self.end.comparison.played), self.end.trail

    @ui.refreshable_method
    def _head(self) -> None:
        heading(ended_text(self.end))
        with ui.row().classes("items-baseline gap-x-6 gap-y-1"):
            ui.label(f"You were the {seats_text(self.end.model, self.end.seats)}")
            for name, text in head_facts(self.end).items():
                with ui.row().classes("gap-1 items-baseline"):
                    ui.label(f"{name[:1].upper()}{name[1:]}").classes("text-sm text-gray-600")
                    label = ui.label(text).classes("text-xl font-bold")
                    if name == "your score":
                        label.props("data-score")

    @ui.refreshable_method
    def _place(self) -> None:
        place = self.end.place
        if not isinstance(place, ScorePlace):
            heading("Your place between floor and bound")
            ui.label(place).classes("help").props("data-place")
            return
        heading(place.sentence).props("data-place")
        low, high = place.known.floor, place.ceiling
        with ui.element("div").classes("scale").props("aria-hidden=true"):
            for score, kind in self._ticks(place):
                share = min(1.0, max(0.0, (score - low) / (high - low)))
                ui.element("i").classes(kind).style(f"left: {100 * share:.2f}%")
        with ui.element("dl").classes("scale-names"):
            for name, text in place_lines(self.end):
                with ui.element("div").classes(name.replace(" ", "-").partition(":")[0]):
                    with ui.element("dt"):
                        ui.label(name)
                    with ui.element("dd"):
                        ui.label(text)

    def _ticks(self, place: ScorePlace) -> list[tuple[float, str]]:
        comparison = self.end.comparison
        rules = [(comparison.median, "median-rule"), (comparison.best, "best-rule")]
        found = [(row.score or 0.0, kind) for row, kind in rules if row and comparison.done]
        return [*found, (place.score, "you")]

    def _next(self) -> None:
        heading("Another game")
        end, seed = self.end, self.end.episode.header.seed
        with ui.row().classes("gap-2"):
            self._button(
                "Play again, same seed", "again", lambda: self._go(self.sitting.again, seed)
            )
            self._button(
                f"Play seed {seed + 1}", "next_seed", lambda: self._go(self.sitting.again, seed + 1)
            )
        ui.label(f"Your game is recorded in {end.file}. To replay it:").classes("help")
        ui.label(f"desim replay {end.file}").classes("font-mono text-sm wrap")
        ui.label("To use your answers as a policy:").classes("help")
        ui.label(f"--policy replay,file={end.file}").classes("font-mono text-sm wrap")

    def _button(self, text: str, act: str, click: Callable[..., Any]) -> ui.button:
        button = ui.button(text, on_click=click)
        return button.props(f'{_BUTTON} data-act="{act}"')

    async def _go(self, begin: Callable[..., None], number: int) -> None:
        try:
            await asyncio.wrap_future(in_thread(begin, self.end.file, number))
        except (DesimError, OSError) as fault:
            ui.notify(str(fault), type="negative")
            return
        self.changed()

    @ui.refreshable_method
    def _course(self) -> None:
        end = self.end
        heading("How it went", 2)
        courses = [(name, trail) for name, trail in end.courses() if trail.values]
        if not end.reader.title:
            ui.label("The world declares no series of its score.").classes("help")
        elif courses and end.trail.values:
            options = end_chart(end.reader.title, end.reader.column.period, courses)
            chart = ui.echart(options).classes("end-chart").props("role=img data-course")
            finals = "; ".join(f"{name} {value_text(t.values[-1])}" for name, t in courses)
            chart.props["aria-label"] = f"Chart: {end.reader.title}; at the end {finals}"

    @ui.refreshable_method
    def _ranking(self) -> None:
        comparison = self.end.comparison
        heading("Compared with the baselines")
        if comparison.note:
            ui.label(comparison.note).classes("help").props("data-note")
            return
        if comparison.done:
            ui.label(rank_sentence(self.end)).props("data-rank")
        show_table(comparison.ranked(self.end.episode), mark="you", page=0)
        for note in comparison.notes:
            ui.label(note).classes("help")
        if not comparison.done:
            with ui.row().classes("items-center"):
                ui.spinner()
                played, of = len(comparison.played), len(comparison.contenders)
                ui.label(f"{played} of {of} baselines have played")

    def _figures(self) -> None:
        show_table(metrics_table(self.sitting.game, self.end.episode))
