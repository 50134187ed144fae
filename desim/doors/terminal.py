"""The same game in plain text: it works in a terminal and in a pipe."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from rich import box
from rich.markup import escape
from rich.table import Table

from desim import show
from desim.doors.beside import Beside
from desim.doors.figures import Grid, Section, answer_line, grid, laid_out
from desim.doors.forms import Form, forms, read
from desim.doors.game import Game
from desim.doors.words import humanised, told
from desim.errors import DesimError, UsageError, WrongAction, possible

__all__ = ["converse"]

_PROMPT = "> "
_HELP = (
    "Type the number of an option, an action with its values as in `order quantity=12`, or a "
    'tagged object such as {"do": "order", "quantity": 12}. Values with spaces stand in quotes.'
)
_WORDS = {
    "?": "shows this",
    "past": "lists what you have decided",
    "look": "lists the tables you may look up; `look NAME` shows one",
    "undo": "takes your last decision back (practice only)",
    "quit": "stops; the same command goes on from here",
}


def converse(game: Game) -> None:
    """Play a game on standard input and output until it ends or somebody quits."""
    Conversation(game).hold()


class Conversation:
    """A game on standard input and output.

    Attributes:
        game: What is played.
        out: Where it is told.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.out = show.console()

    def hold(self) -> None:
        """Ask for answers until the game ends or nothing more comes."""
        self._greet()
        while True:
            if self.game.view.episode is not None:
                self._end()
            else:
                self._tell()
            if not self._hear():
                return

    def _hear(self) -> bool:
        """Take lines until one changes the game; return whether there is more to come."""
        turn = self.game.view.turn
        while self.game.view.turn == turn:
            if self.game.view.episode is not None and not self.game.practice:
                return False
            line = self._line()
            if line in {None, "quit"}:
                self._say(f"Your game is kept in {self.game.file}.")
                return False
            try:
                self._obey(line or "")
            except DesimError as fault:
                self._say(str(fault))
        return True

    def _line(self) -> str | None:
        """Read a line; none at the end of the input."""
        self.out.print(_PROMPT, end="")
        text = sys.stdin.readline()
        return text.strip() if text else None

    def _obey(self, line: str) -> None:
        view, game = self.game.view, self.game
        first, _, rest = line.partition(" ")
        commands: dict[str, Callable[[], None]] = {
            "": lambda: None,
            "?": self._help,
            "help": self._help,
            "past": self._past,
            "look": lambda: self._look(rest.strip()),
            "undo": lambda: game.undo(view.turn),
        }
        # An action of the world that has one of these names comes first.
        if first in commands and first not in {form.tag for form in self._forms()}:
            commands[first]()
        elif view.fault:
            game.go_on(view.turn)
        else:
            game.answer(view.turn, self._action(line))

    def _action(self, line: str) -> Any:
        """Read an answer.

        Raises:
            UsageError: It is neither an option's number nor an action.
            WrongAction: Its values cannot be parsed.
        """
        options = self.game.view.options
        if line.isdigit():
            if not 1 <= int(line) <= len(options):
                raise UsageError(f"there is no option {line}; there are {len(options)}")
            return options[int(line) - 1].action
        if line.startswith("{"):
            return _decoded(line)
        tag, *pairs = _words(line)
        named = {form.tag: form for form in self._forms()}
        if tag not in named:
            raise UsageError(f"there is no action {tag!r}; {possible(tag, named)}; ? helps")
        return read(named[tag], dict(_pair(named[tag], pair) for pair in pairs))

    def _forms(self) -> tuple[Form, ...]:
        role = self.game.view.role
        return forms(self.game.role(role)) if role else ()

    # -- what is told ------------------------------------------------------------------------------

    def _say(self, text: str, style: str = "") -> None:
        self.out.print(escape(text), style=style or None, soft_wrap=True)

    def _greet(self) -> None:
        head = self.game.header
        seats = ", ".join(self.game.seats)
        self._say(
            f"{head.model}, preset {head.preset}, seed {head.seed}; you are {seats}. ? helps."
        )

    def _tell(self) -> None:
        view = self.game.view
        if view.fault:
            self._say(f"The others cannot go on: {view.fault}")
            self._say("Type `again` to ask them again, or quit.")
            return
        self._say("")
        self._say(f"Decision {len(view.steps) + 1}, {view.role}", "bold")
        self._section(laid_out(view.observation, self.game.role(view.role).sees))
        if view.options:
            does = self.game.role(view.role).does
            rows = [
                {"": n, "answer": answer_line(o.action, does), "worth": o.worth, "note": o.note}
                for n, o in enumerate(view.options, 1)
            ]
            self._grid(grid("Options", rows))
        else:
            self._say("Actions: " + ", ".join(form.tag for form in self._forms()))

    def _section(self, section: Section) -> None:
        if section.label:
            self._say(section.label, "bold")
        table = Table(show_header=False, box=None, pad_edge=False)
        for figure in section.figures:
            table.add_row(escape(figure.label), escape(figure.text), style=None)
        if section.figures:
            self.out.print(table)
        for text in section.texts:
            self._say(f"{text.label}:\n{text.text}")
        for each in section.grids:
            self._grid(each)
        for inner in section.sections:
            self._section(inner)

    def _grid(self, shown: Grid) -> None:
        table = Table(title=escape(shown.label), title_justify="left", box=box.SIMPLE_HEAD)
        for label, numeric in zip(shown.columns, shown.numeric, strict=True):
            table.add_column(escape(label), justify="right" if numeric else "left", overflow="fold")
        for row in shown.rows:
            table.add_row(*map(escape, row))
        self.out.print(table)

    def _help(self) -> None:
        self._say(_HELP)
        for form in self._forms():
            self._say(f"  {form.tag}: {form.text}")
            for field in form.fields:
                hint = f" ({field.hint})" if field.hint else ""
                self._say(f"      {field.name}: {field.text}{hint}")
        for word, text in _WORDS.items():
            self._say(f"  {word}: {text}")

    def _past(self) -> None:
        rows = [
            {
                "decision": n,
                "seat": step.role,
                "answer": answer_line(step.action, self.game.role(step.role).does),
            }
            for n, step in enumerate(self.game.view.steps, 1)
        ]
        self._grid(grid("Decisions", rows))

    def _look(self, name: str) -> None:
        sheets = self.game.view.sheets
        if name in sheets:
            self._grid(grid(humanised(name), sheets[name]))
        elif name:
            raise UsageError(f"there is no table {name!r}; {possible(name, sheets)}")
        else:
            self._say("Tables: " + (", ".join(sheets) or "none in this world"))

    def _end(self) -> None:
        game, episode = self.game, self.game.view.episode
        assert episode is not None
        self._say("")
        self._say(f"The game has ended: {episode.ended}. Score {told(episode.score)}", "bold")
        metrics = [{"figure": humanised(k), "value": v} for k, v in episode.metrics.items()]
        self._grid(grid("Figures", metrics))
        beside = Beside(game.model, game.seed, game.seats, game.others)
        beside.play()
        self._grid(beside.ranked(episode))
        self._say(f"Your game is kept in {game.file}: desim replay {game.file}")


def _decoded(line: str) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError) as fault:
        raise WrongAction(f"that is no JSON: {fault}") from None


def _words(line: str) -> Sequence[str]:
    import shlex

    try:
        return shlex.split(line)
    except ValueError as fault:
        raise UsageError(f"{line!r} cannot be read: {fault}") from None


def _pair(form: Form, text: str) -> tuple[str, str]:
    """Split key=value; the key may be left out where the action has only one value."""
    key, equals, value = text.partition("=")
    if not equals and len(form.fields) == 1:
        return form.fields[0].name, text
    if not equals:
        known = " ".join(f"{field.name}=..." for field in form.fields)
        raise UsageError(f"{text!r} is not KEY=VALUE; write {form.tag} {known}")
    return key, value
