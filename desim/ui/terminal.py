"""A person's game in plain text, on standard input and output; a pipe works, too."""

import re
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from attrs import evolve

from desim.errors import DesimError, UsageError, WrongAction, possible
from desim.show.console import console
from desim.show.table import Table
from desim.ui.answer_effects import AnswerEffect
from desim.ui.ending import Sitting
from desim.ui.forms import Form, amount_form
from desim.ui.game import Game
from desim.ui.game_faults import Fault
from desim.ui.layout import ValueGroup, action_text, lay_out, text_table
from desim.ui.terminal_end import END_COMMANDS, obey_end, print_end
from desim.ui.texts import (
    briefing_of,
    decisions_table,
    name_text,
    rules_paragraphs,
    seats_text,
    shown_table,
)
from desim.ui.typed_texts import Confirmation, read_form

_PROMPT = "> "
#: Changes of figures that are printed after an answer.
_CHANGES = 8
_HELP = (
    "Type {option}, an action with its values as in `order quantity=12`, or a tagged object such "
    'as {{"do": "order", "quantity": 12}}. Put values with spaces in quotes.'
)
#: A number alone, and the number of an option.
_NUMBER, _OPTION = re.compile(r"[-+]?\$?\d[\d,.]*([eE][-+]?\d+)?"), re.compile(r"#?(\d+)")
_COMMANDS = {
    "?": "shows this help",
    "past": "lists your decisions",
    "rules": "shows the rules of your role",
    "hint": "shows options with their estimates",
    "look": "lists the tables you may look up; `look NAME` shows one",
    "undo": "takes your last decision back (practice only)",
    "quit": "stops; the same command continues the game",
}


def play_in_terminal(game: Game) -> None:
    """Play a game until it ends, the person quits, or the input ends.

    Raises:
        DesimError: The game is left while it cannot go on, such as after a fault of the model.
    """
    terminal = TerminalGame(game)
    try:
        terminal.play()
    finally:
        terminal.sitting.close()
    fault = terminal.game.view.fault
    if fault is not None and not fault.again:
        raise DesimError(fault.text)


class TerminalGame:
    """A game on standard input and output.

    Attributes:
        sitting: The games that are played here in a row.
        out: The console that it is printed on.
    """

    def __init__(self, game: Game) -> None:
        self.sitting = Sitting(game)
        self.out = console()
        self._confirmation = Confirmation()

    @property
    def game(self) -> Game:
        """The present game."""
        return self.sitting.game

    def play(self) -> None:
        """Read answers until the game or the input ends."""
        self._print_header()
        while True:
            if self.game.view.episode is not None:
                self._print("")
                print_end(self.sitting, self.out)
            else:
                self._print_decision()
            if not self._read_until_changed():
                return

    def _read_until_changed(self) -> bool:
        """Read lines until one changes the game; return False if no line follows."""
        view = self.game.view
        while self.game.view is view:
            line = self._read_line()
            if line in {None, "quit"}:
                if self.game.view.episode is None:
                    self._print_command(f"Your game is recorded in {self.game.file}.")
                return False
            try:
                self._obey(line or "")
            except DesimError as fault:
                self._print(str(fault))
        return True

    def _read_line(self) -> str | None:
        """Read a line; return None at the end of the input."""
        self.out.print(_PROMPT, end="")
        text = sys.stdin.readline()
        return text.strip() if text else None

    def _obey(self, line: str) -> None:
        view, game = self.game.view, self.game
        first, _, rest = line.partition(" ")
        commands: dict[str, Callable[[], None]] = {
            "": lambda: None,
            "?": self._print_help,
            "help": self._print_help,
            "past": self._print_decisions,
            "rules": self._print_rules,
            "hint": self._open_hint,
            "look": lambda: self._print_looked_up(rest.strip()),
            "undo": lambda: game.undo(view.turn),
        }
        if view.episode is not None and first in END_COMMANDS:
            if obey_end(self.sitting, self.out, first, rest):
                self._print_header()
            return
        # An action of the model that has the name of a command takes precedence.
        if first in commands and first not in {form.tag for form in self._forms()}:
            commands[first]()
        elif view.episode is not None:
            raise UsageError(f"the game has ended; type {', '.join(END_COMMANDS)}, or quit")
        elif view.fault is not None:
            game.go_on(view.turn)
        else:
            self._answer(line)

    def _answer(self, line: str) -> None:
        """Give the answer of a line, unless it is unusual and has to be confirmed."""
        view = self.game.view
        action = self._action(line)
        if question := self._confirmation.question(self._forms(), action):
            self._print(question)
            return
        self.game.answer(view.turn, action)
        if not line[:1].isalpha():  # a number or JSON: what was done is not what was typed
            done = action_text(action, self.game.role(view.role).action)
            self._print(f"Done: {done}")

    def _action(self, line: str) -> Any:
        """Return the action that a line names.

        A number alone is an amount where the role has one action with one number, else an option.
        """
        amount = amount_form(self._forms())
        if amount and _NUMBER.fullmatch(line):
            return read_form(amount, {amount.fields[0].key: line})
        if numbered := _OPTION.fullmatch(line):
            return self._option(int(numbered[1]))
        if line.startswith("{"):
            return _decoded(line)
        known = {form.tag: form for form in self._forms()}
        first, _, rest = line.partition(" ")
        if first in known and (name := _text_alone(known[first], rest)):
            return read_form(known[first], {name: rest})
        tag, *pairs = _split(line)
        if tag not in known:
            raise UsageError(f"there is no action {tag!r}; {possible(tag, known)}; ? helps")
        return read_form(known[tag], dict(_pair(known[tag], pair) for pair in pairs))

    def _option(self, number: int) -> Any:
        """Return the action of an option."""
        options = self.game.view.options
        if options and not self.game.hint_open:
            raise UsageError("the options are not shown; `hint` shows them")
        if not 1 <= number <= len(options):
            raise UsageError(f"there is no option {number}; there are {len(options)}")
        return options[number - 1].action

    def _forms(self) -> tuple[Form, ...]:
        role = self.game.view.role
        return self.game.forms(role) if role else ()

    # -- output ------------------------------------------------------------------------------------

    def _print(self, text: str, style: str = "") -> None:
        """Print a text, which a terminal breaks between words; a pipe gets whole lines."""
        whole = not self.out.is_terminal
        self.out.print(text, style=style or None, soft_wrap=whole, markup=False)

    def _print_command(self, text: str) -> None:
        """Print a line with a command, which is copied as one line."""
        self.out.print(text, soft_wrap=True, markup=False)

    def _print_header(self) -> None:
        header, seats = self.game.header, seats_text(self.game.model, self.game.seats)
        game = f"{header.model}, preset {header.preset}, seed {header.seed}"
        self._print(f"{game}; you are {seats}. Type ? for help, `rules` for all rules.")
        for role in self.game.seats:
            briefing = briefing_of(self.game.model, role)
            self._print("")
            self._print(briefing.title, "bold")
            self.out.print(Table((), briefing.answers(), (0, 1)))

    def _print_rules(self) -> None:
        for role in self.game.seats:
            self._print("")
            self._print(name_text(self.game.model, role), "bold")
            for paragraph in rules_paragraphs(self.game.model, role):
                self._print(paragraph)

    def _print_decision(self) -> None:
        view = self.game.view
        if view.fault is not None:
            self._print_fault(view.fault)
            return
        role = self.game.role(view.role)
        self._print("")
        if view.effect:
            self._print_effect(view.effect)
        date = f", {view.date}" if view.date else ""
        self._print(f"Decision {len(view.steps) + 1}, {view.role}{date}", "bold")
        self._print_group(lay_out(view.observation, role.observation))
        if view.options_error:
            self._print(view.options_error)
        if view.options and self.game.hint_open:
            self._print_options()
        else:
            self._print("Actions: " + ", ".join(form.tag for form in self._forms()))
        self._print_amount()
        if view.options and not self.game.hint_open:
            self._print("`hint` shows options, ? the values of the actions.")

    def _print_amount(self) -> None:
        """Print what a number alone does, and how an option is taken then."""
        form = amount_form(self._forms())
        if form is None:
            return
        name, options = form.fields[0].key, len(self.game.view.options)
        last = f" to #{options}" if options > 1 else ""
        taken = f"; #1{last} takes an option" if options and self.game.hint_open else ""
        meant = f"12 is `{form.tag} {name}=12`"
        self._print(f"A number alone is the {name} of {form.tag}: {meant}{taken}.")

    def _open_hint(self) -> None:
        """Show the options of the open decision."""
        view = self.game.view
        if not view.options:
            raise UsageError(view.options_error or "there are no options now")
        self.game.hint_opened(view.turn)
        self._print_options()
        self._print_amount()

    def _print_options(self) -> None:
        view = self.game.view
        role, amount = self.game.role(view.role), amount_form(self._forms())
        rows = [
            {
                "": f"#{number}" if amount else number,
                "answer": action_text(option.action, role.action),
                **({} if view.options_are_answers else {"value": option.value}),
                "note": option.note,
            }
            for number, option in enumerate(view.options, 1)
        ]
        self._print_table(text_table("Options", rows))

    def _print_effect(self, effect: AnswerEffect) -> None:
        changes = "; ".join(f"{c.label} {c.before} to {c.after}" for c in effect.changes[:_CHANGES])
        for text in (effect.sentence, changes and f"Changed: {changes}."):
            if text:
                self._print(text)
        self._print("")

    def _print_fault(self, fault: Fault) -> None:
        self._print("")
        self._print(f"{fault.heading}: {fault.text}", "bold")
        if fault.again:
            self._print("Type `again` to ask it again, or `quit`.")
            return
        self._print_command(fault.way)
        self._print("Type `quit` to leave, or ? for help.")

    def _print_group(self, group: ValueGroup) -> None:
        if group.label:
            self._print(group.label, "bold")
        if group.figures:
            figures = ((figure.label, figure.text) for figure in group.figures)
            self.out.print(Table((), figures, (0, 1)))
        for text in group.texts:
            self._print(f"{text.label}:\n{text.text}")
        for table in group.tables:
            self._print_table(table)
        for inner in group.groups:
            self._print_group(inner)

    def _print_table(self, table: Table) -> None:
        self._print("")
        self.out.print(evolve(table, legend=()))

    def _print_help(self) -> None:
        amount = amount_form(self._forms())
        self._print(_HELP.format(option="#1 for option 1" if amount else "the number of an option"))
        self._print_amount()
        for form in self._forms():
            self._print(f"  {form.tag}: {form.text}")
            for field in form.fields:
                empty = "" if field.required else "; may be left empty"
                self._print(f"      {field.key}: {field.text} ({field.wanted}{empty})")
        ended = self.game.view.episode is not None
        for command, text in {**_COMMANDS, **(END_COMMANDS if ended else {})}.items():
            self._print(f"  {command}: {text}")

    def _print_decisions(self) -> None:
        self._print_table(decisions_table(self.game))

    def _print_looked_up(self, name: str) -> None:
        """Print a table of the model, or the names of all tables."""
        view = self.game.view
        if view.tables_error:
            self._print(view.tables_error)
        if name:
            self._print_table(shown_table(self.game, name))
        elif not view.tables_error:
            self._print("Tables: " + (", ".join(view.tables) or "none in this model"))


def _decoded(line: str) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError) as fault:
        raise WrongAction(f"that is no JSON: {fault}") from None


def _split(line: str) -> Sequence[str]:
    try:
        return shlex.split(line)
    except ValueError as fault:
        raise UsageError(f"{line!r} cannot be read: {fault}") from None


def _text_alone(form: Form, rest: str) -> str:
    """Return the name of an action's only value where that is a text typed without quotes."""
    if len(form.fields) != 1 or form.fields[0].kind != "text" or not rest:
        return ""
    name = form.fields[0].key
    return "" if rest.startswith(("'", '"', f"{name}=")) else name


def _pair(form: Form, text: str) -> tuple[str, str]:
    """Split key=value; the key may be left out where the action has only one value."""
    key, equals, value = text.partition("=")
    if not equals and len(form.fields) == 1:
        return form.fields[0].key, text
    if not equals:
        known = " ".join(f"{field.key}=..." for field in form.fields)
        raise UsageError(f"{text!r} is not KEY=VALUE; write {form.tag} {known}")
    return key, value
