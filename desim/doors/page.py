"""The page on which a person plays, one design for every world.

The game is on the server: a tab shows its present view and answers with that view's turn. Whoever
closes the browser and comes back, or opens a second tab, sees the game as it stands.
"""

import asyncio
import secrets
import socket
from typing import Any

from nicegui import app, background_tasks, run, ui

from desim.doors import charts
from desim.doors.beside import Beside
from desim.doors.desk import show_desk
from desim.doors.figures import answer_line, clock, grid
from desim.doors.forms import forms
from desim.doors.game import Game, Stale
from desim.doors.past import past
from desim.doors.pieces import heading, show_grid
from desim.doors.style import STYLE
from desim.doors.words import humanised, told
from desim.errors import DesimError, UsageError

__all__ = ["serve"]

#: Seconds between looks at a game that moves without this tab.
_LOOK = 0.5


def serve(game: Game, host: str, port: int, *, show: bool = False) -> None:
    """Serve the page of a game until the process is stopped.

    Its address, with a token that nobody guesses, is printed once the page can be opened.

    Args:
        game: What is played.
        host: Where to listen.
        port: Where to listen; 0 takes a free one.
        show: Open a browser.
    """
    token, port = secrets.token_urlsafe(24), _port(host, port)
    beside = Beside(game.model, game.seed, game.seats, game.others)

    @ui.page(f"/{token}", title=f"desim: {_name(game)}")
    def _page() -> None:
        Tab(game, beside).build()

    async def announce() -> None:
        await _reachable(host, port)
        address = f"http://{_reached(host)}:{port}/{token}"
        print(f"{_name(game)} is played at {address}", flush=True)  # noqa: T201

    app.on_startup(lambda: background_tasks.create(announce()))
    ui.run(
        host=host,
        port=port,
        show=f"/{token}" if show else False,
        reload=False,
        show_welcome_message=False,
        title="desim",
        language="en-US",
    )


class Tab:
    """One tab of one browser.

    Attributes:
        game: What is played.
        beside: The baselines, for the end.
        view: The view that is shown.
        tab: Which of the tables below is open.
    """

    def __init__(self, game: Game, beside: Beside) -> None:
        self.game, self.beside = game, beside
        self.view = game.view
        self.tab = "Past"
        self._waits, self._compared = False, 0

    def build(self) -> None:
        """Put the page together."""
        ui.colors(primary="#2f6f73", accent="#f0a202")
        ui.add_css(STYLE)
        ui.query(".nicegui-content").classes("p-0")
        self._main = (
            ui.element("div")
            .props("id=game")
            .classes("w-full max-w-[1500px] mx-auto p-4 stack gap-4")
        )
        self._status = ui.label("The others are deciding").classes("status").props("role=status")
        self._show()
        self._look()
        ui.timer(_LOOK, self._look)

    # -- what happens ------------------------------------------------------------------------------

    async def act(self, action: Any) -> str:
        """Answer the decision this tab shows; return what is wrong with the answer."""
        return await self._change(self.game.answer, self.view.turn, action)

    async def undo(self) -> None:
        """Take the last decision back."""
        if wrong := await self._change(self.game.undo, self.view.turn):
            ui.notify(wrong, type="negative")

    async def go_on(self) -> None:
        """Ask the other seats again."""
        await self._change(self.game.go_on, self.view.turn)

    async def _change(self, change: Any, *arguments: Any) -> str:
        self._main.classes("pointer-events-none")
        try:
            await run.io_bound(change, *arguments)
        except Stale as stale:
            with self._main:
                ui.notify(str(stale), type="warning", timeout=6000)
        except DesimError as fault:
            return str(fault)
        except Exception as fault:  # noqa: BLE001 (a fault of the world's is told, not swallowed)
            return f"{type(fault).__name__}: {fault}"
        finally:
            self._main.classes(remove="pointer-events-none")
        self._show()
        # A keyboard goes on from here: the next Tab is at the first option.
        with self._main:  # the button that was clicked, and its place on the page, are gone
            ui.run_javascript("document.getElementById('actions')?.focus({preventScroll: true})")
        return ""

    def _look(self) -> None:
        """Notice what happened without this tab: others have answered, a baseline has played."""
        self._status.set_visibility(self.game.busy)
        if self._waits and not self.game.busy:
            self._show()
        if self.view.episode is not None and self._compared != len(self.beside.played):
            self._comparison.refresh()

    # -- what is shown -----------------------------------------------------------------------------

    def _show(self) -> None:
        self.view, self._waits = self.game.view, self.game.busy
        self._main.props(f"data-turn={self.view.turn}")
        self._main.clear()
        with self._main:
            self._header()
            if self.view.episode is not None:
                self._end()
            elif self.view.fault or self._waits:
                self._standstill()
            else:
                show_desk(self.view, self.game.role(self.view.role), self.act)
            self._tables()

    def _header(self) -> None:
        game, view = self.game, self.view
        with ui.element("header").classes("panel flex flex-row flex-wrap items-baseline gap-x-6"):
            heading(_name(game), 1)
            head = game.header
            _fact("preset", head.preset)
            _fact("seed", str(game.seed))
            _fact("seat", humanised(view.role or ", ".join(game.seats)))
            if view.role and (time := clock(view.observation, game.role(view.role).sees)):
                _fact(time.label.lower(), time.text)
            _fact("decision", f"{len(view.steps) + bool(view.role):,}")
            if game.practice:
                ui.space()
                button = ui.button("Undo", icon="undo", on_click=self.undo)
                button.props('no-caps outline dense data-act="undo"').set_enabled(bool(view.steps))

    def _standstill(self) -> None:
        with ui.element("section").classes("panel stack gap-2"):
            if self.view.fault:
                heading("The others cannot go on")
                ui.label(self.view.fault).classes("complaint").props("role=alert")
                button = ui.button("Ask them again", on_click=self.go_on)
                button.props('no-caps data-act="go_on"')
            else:
                heading("Your turn comes when the others have decided")
                ui.spinner()

    def _end(self) -> None:
        assert self.view.episode is not None
        result = self.view.episode.result
        assert result is not None
        self.beside.start()
        with ui.element("div").classes("grid grid-cols-1 lg:grid-cols-2 gap-4 items-start w-full"):
            with ui.element("section").classes("panel stack gap-3 min-w-0").props("role=status"):
                heading("The game has ended")
                _fact("why", result.ended)
                with ui.row().classes("items-baseline gap-2"):
                    ui.label("Score").classes("text-lg")
                    ui.label(told(result.score)).classes("text-4xl font-bold").props("data-score")
                metrics = [{"figure": humanised(k), "value": v} for k, v in result.metrics.items()]
                show_grid(grid("Figures", metrics))
                self._keepsake()
            with ui.element("section").classes("panel stack gap-3 min-w-0"):
                heading("Beside the baselines")
                self._comparison()

    @ui.refreshable_method
    def _comparison(self) -> None:
        episode, beside = self.view.episode, self.beside
        assert episode is not None
        self._compared = len(beside.played)
        show_grid(beside.ranked(episode), mark="you", page=0)
        if not beside.done:
            with ui.row().classes("items-center"):
                ui.spinner()
                ui.label(f"{len(beside.played)} of {len(beside.names)} baselines have played")

    def _keepsake(self) -> None:
        file = self.game.file
        ui.label(f"Your game is kept in {file}. It replays with").classes("help")
        ui.label(f"desim replay {file}").classes("font-mono text-sm")
        ui.label("and plays in your place as").classes("help")
        ui.label(f"--policy replay,file={file}").classes("font-mono text-sm")

    def _tables(self) -> None:
        names = ["Past", "Decisions", *map(humanised, self.view.sheets), "Help"]
        if self.tab not in names:
            self.tab = "Past"
        with ui.element("section").classes("panel w-full min-w-0 stack gap-3"):
            with ui.tabs(on_change=self._turn_to).props("align=left no-caps") as tabs:
                for name in names:
                    ui.tab(name)
            tabs.set_value(self.tab)
            self._table()

    def _turn_to(self, event: Any) -> None:
        if event.value != self.tab:
            self.tab = event.value
            self._table.refresh()

    @ui.refreshable_method
    def _table(self) -> None:
        """Show the open tab; the others are not made before somebody opens them."""
        shown = {"Past": self._past, "Decisions": self._decisions, "Help": self._help}
        with ui.element("div").classes("w-full stack gap-2").props("role=tabpanel"):
            if self.tab in shown:
                shown[self.tab]()
                return
            for name, rows in self.view.sheets.items():
                if humanised(name) == self.tab:
                    show_grid(grid(self.tab, rows))

    def _past(self) -> None:
        steps = self.view.steps
        seat = self.view.role or (steps[-1].role if steps else self.game.seats[0])
        role = self.game.role(seat)
        mine = [step for step in steps if step.role == seat]
        found = past(role, mine, self.view.observation)
        if not found.series:
            ui.label(
                "Numbers that change are drawn here as soon as there are two of them."
            ).classes("help")
            return
        chart = ui.echart(charts.options(found.series, found.axis))
        chart.classes("w-full").style(f"height: {charts.height(found.series)}px")
        chart.props('role=img aria-label="Charts of the numbers seen so far"')

    def _decisions(self) -> None:
        rows = [
            {
                "decision": number,
                "seat": step.role,
                "answer": answer_line(step.action, self.game.role(step.role).does),
            }
            for number, step in enumerate(self.view.steps, 1)
        ]
        show_grid(grid("Decisions, the latest first", rows[::-1]))

    def _help(self) -> None:
        for name in self.game.seats:
            role = self.game.role(name)
            heading(humanised(name), 3)
            rows = [
                {
                    "action": form.label,
                    "what it does": form.text,
                    "values": "; ".join(f"{f.label}: {f.text}" for f in form.fields),
                }
                for form in forms(role)
            ]
            show_grid(grid("Actions", rows))


def _fact(name: str, text: str) -> None:
    with ui.row().classes("gap-1 items-baseline"):
        ui.label(name).classes("text-sm text-gray-600")
        ui.label(text).classes("font-semibold").props(f'data-fact="{name}"')


def _name(game: Game) -> str:
    return humanised(game.header.model.rsplit(":", 1)[-1])


def _port(host: str, port: int) -> int:
    """Return a port that can be listened on: the one asked for, or any for 0.

    Raises:
        UsageError: It is taken, or the host is none of this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as fault:
            raise UsageError(f"cannot listen on {host} port {port}: {fault.strerror}") from None
        found: int = probe.getsockname()[1]
        return found


async def _reachable(host: str, port: int) -> None:
    """Wait until the server takes connections."""
    while True:
        try:
            _, writer = await asyncio.open_connection(_reached(host).strip("[]"), port)
        except OSError:
            await asyncio.sleep(0.02)
        else:
            writer.close()
            return


def _reached(host: str) -> str:
    """Return how this machine reaches a host that was listened on, as it stands in an address."""
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 (it is asked for)
    return everywhere.get(host, f"[{host}]" if ":" in host else host)
