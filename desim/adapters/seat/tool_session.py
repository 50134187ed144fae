"""An episode whose one seat acts by calls of tools, as language models do.

Every action of the role is a tool, also one that the world always refuses, so that results can be
compared with those of `desim run` and with published figures. An answer that the world refuses is
an answer; `wrong` counts only calls that do not fit a schema.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen

from desim.adapters.seat.setup import Setup
from desim.adapters.seat.stepped_session import TRUNCATED, SteppedSession, as_json
from desim.core.model import model_of, rules_of
from desim.core.run import Run
from desim.episodes.usage import MOST_DEFAULTS, default_share
from desim.errors import DesimError, UsageError, WrongAction, possible
from desim.schema import TAG, codec
from desim.schema.described import action_schemas
from desim.short_repr import short_repr

#: The tool that shows a table of the seat.
LOOK_UP = "look_up_table"

#: The metric of evaluation tools that holds `share_of_defaults`.
SHARE = "default_share"

#: Tables that may be looked up before one decision; a model that only reads would never end.
MOST_LOOK_UPS = 20

#: Rows of a table that are shown, the last ones.
_MOST_ROWS = 100

_HOW = (
    "Act by calling a tool; a reply without a call changes nothing. Several calls in one reply are "
    "carried out in their order, and the answer to each is the next observation. A call that does "
    "not fit a tool's schema changes nothing either. Questions are not answered: play on until a "
    "reply says that the episode is over."
)

_NOT_EXECUTED = "Not executed: the episode is over."


@frozen
class Tool:
    """One action of a seat, or a further tool.

    Attributes:
        name: The action's tag, such as `order`.
        description: The effect of the action, in one paragraph.
        parameters: The JSON Schema of its arguments, an object without references.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]

    @property
    def fields(self) -> Mapping[str, Any]:
        """The JSON Schemas of the arguments by name."""
        return self.parameters["properties"]  # type: ignore[no-any-return]  # of a JSON Schema


def tools_of(setup: Setup, run: Run[Any]) -> dict[str, Tool]:
    """Return the actions of the seat as tools by name, and `LOOK_UP` if it has tables in a run."""
    seat, found = only_seat(setup), dict[str, Tool]()
    for name, schema in action_schemas(codec(setup.model.roles[seat].action)).items():
        parameters = {key: each for key, each in schema.items() if key != "description"}
        found[name] = Tool(name, schema.get("description", ""), parameters)
    if (
        setup.model.tables
        and LOOK_UP not in found
        and (names := [*setup.model.tables(run.state, seat)])
    ):
        schema = object_schema({"table": {"type": "string", "enum": names}}, ["table"])
        text = f"Show the last {_MOST_ROWS} rows of a table of yours; no time passes."
        found[LOOK_UP] = Tool(LOOK_UP, text, schema)
    return found


def object_schema(properties: Mapping[str, Any], required: Iterable[str] = ()) -> dict[str, Any]:
    """Return the JSON Schema of the arguments of a tool that is not an action."""
    schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return schema | ({"required": list(required)} if required else {})


class ToolSession:
    """One episode of a setup with one seat.

    Attributes:
        seat: The role that is played.
        tools: See `tools_of`.
        session: The episode.
        wrong: Calls that did not fit the schema.
        defaults: Decisions for which the role's default action was taken.
        shown: Tables that were looked up.
        answers: The tagged objects of all answers, defaults included.
    """

    def __init__(self, setup: Setup, session: SteppedSession) -> None:
        self.seat = only_seat(setup)
        self.session = session
        self.tools = tools_of(setup, session.run)
        self.wrong = self.defaults = self.shown = 0
        self.answers: list[dict[str, Any]] = []
        self._limit = model_of(setup.model, self.seat)[0].max_questions_per_tick
        self._tick, self._at_tick, self._look_ups = -1, 0, 0

    @property
    def done(self) -> bool:
        """Whether the episode has ended or is truncated."""
        return self.session.done

    @property
    def progress(self) -> int:
        """The number of answers and looked-up tables; unchanged by a reply without effect."""
        return len(self.answers) + self.shown

    def instructions(self) -> str:
        """Return the rules of the seat, and instructions on how to act."""
        return f"{rules_of(self.session.model, self.seat)}\n\n{_HOW}"

    def observation(self) -> str:
        """Return the present observation as JSON, or the facts of the episode's end."""
        return self.session.text()

    def call(self, name: str, arguments: Any) -> str:
        """Execute a call and return its effect as a text.

        Raises:
            WrongAction: The tool does not exist, or the arguments do not fit; nothing changed, and
                the call is counted in `wrong`.
        """
        if self.done:
            return _NOT_EXECUTED
        try:
            table = self._effect(name, arguments)
        except WrongAction as fault:
            self.wrong += 1
            # The model reads of tools, not of tagged objects and classes of actions.
            why = f"the arguments of {name!r} do not fit: {fault.why}" if fault.why else str(fault)
            raise WrongAction(why) from None
        return table or self._moved()

    def default(self) -> str:
        """Take the role's default action and return its effect as a text."""
        self._answer_default()
        return self._moved()

    def play_out(self) -> None:
        """Take the default action at every decision that is left.

        Otherwise a model that stops early would escape the costs of the remaining time. The rest
        stays unplayed if the default action does not end the episode, or another role's policy
        waits for something.
        """
        try:
            while not self.done:
                self._answer_default()
                self.session.advance()
        except DesimError:
            return

    def facts(self) -> dict[str, Any]:
        """Return the facts of the end, and the counts of decisions, wrong calls and defaults."""
        counts = {"answers": len(self.answers), "wrong": self.wrong, "defaults": self.defaults}
        return {**self.session.end_facts(), **counts}

    # -- one decision ------------------------------------------------------------------------------

    def _effect(self, name: str, arguments: Any) -> str:
        """Answer the open decision, or return the text of a table."""
        if name not in self.tools:
            raise WrongAction(f"there is no tool {name!r}; {possible(name, self.tools)}")
        if not isinstance(arguments, Mapping):
            raise WrongAction(f"the arguments of {name!r} are no object")
        if name not in self.session.model.roles[self.seat].tags:
            return self._table(arguments)
        self._answer({**arguments, TAG: name})
        return ""

    def _answer(self, action: dict[str, Any]) -> None:
        decision = self.session.open[0]
        if decision.possible and action[TAG] not in decision.possible:
            name = action[TAG]
            raise WrongAction(f"{name!r} cannot be called now; {possible(name, decision.possible)}")
        self.session.answer(decision, action)
        self.answers.append(action)

    def _answer_default(self) -> None:
        self.answers.append(self.session.answer_default(self.session.open[0]))
        self.defaults += 1

    def _moved(self) -> str:
        """Move on and return the next observation, or the end.

        A model may ask a role only so often at one tick; see `max_questions_per_tick`. The default
        action is taken if one more question would end the episode with an error.
        """
        self._look_ups = 0
        self.session.advance()
        if self.session.tick != self._tick:
            self._tick, self._at_tick = self.session.tick, 0
        self._at_tick += 1
        if self._at_tick >= self._limit - 1 and not self.done:
            self._answer_default()
            self.session.advance()
        return self.observation()

    def _table(self, arguments: Mapping[str, Any]) -> str:
        """Return the last rows of a table as JSON."""
        name, tables = arguments.get("table"), self.session.tables(self.seat)
        if not isinstance(name, str) or name not in tables:
            raise WrongAction(f"table {short_repr(name)} was given; {possible(str(name), tables)}")
        if self._look_ups >= MOST_LOOK_UPS:
            raise WrongAction(f"{MOST_LOOK_UPS} tables were shown; decide before another one")
        self._look_ups += 1
        self.shown += 1
        rows = tables[name]
        return as_json({"rows": len(rows), "last": [dict(row) for row in rows[-_MOST_ROWS:]]})


def share_of_defaults(facts: Mapping[str, Any]) -> float:
    """Return the share of a seat's decisions, 0 to 1, that were default actions, from the facts.

    Without answers it is 0 if the world ended the episode before any question, and else 1.
    """
    counts = {"decisions": facts.get("answers", 0), "default_actions": facts.get("defaults", 0)}
    share = default_share(counts)
    return float(facts.get("ended", "") in {"", TRUNCATED}) if share is None else share


def was_played(facts: Mapping[str, Any]) -> bool:
    """Return whether at most `MOST_DEFAULTS` of a seat's decisions were default actions."""
    return share_of_defaults(facts) <= MOST_DEFAULTS


def only_seat(setup: Setup) -> str:
    """Return the one seat of a setup."""
    if len(setup.seats) != 1:
        names = ", ".join(setup.seats)
        raise UsageError(f"one seat is played by tools; {len(setup.seats)} were given: {names}")
    return setup.seats[0]
