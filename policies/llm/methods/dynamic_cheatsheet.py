"""Dynamic cheatsheet: a sheet of advice that a curator rewrites as answers come in.

Source: reference SPEC of FirmBench, section 5, and its vectors. Of independent questions, the sheet
for each is made from the three most similar other ones with the answers given so far, without the
right answers; a window is answered with the stored sheet as it is, and then answered once more in
order, storing each sheet and answer. In games and dialogues a sheet is rewritten after every
answer, for a plan after every episode; as published, the latter from the figures alone.

A reply may hold a program with a marker behind it: the program is run in the sandbox and the model
goes on with what it printed, up to three times. Published: off for questions, on elsewhere.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar

from attrs import Factory, define, evolve, field, frozen
from attrs.validators import ge

from desim.sandbox import ProgramLimits, run_block
from policies.llm.messages import as_json, assistant_message, user
from policies.llm.methods.items import Answered, Grade, Item, Past, Task, paragraphs, reply_text
from policies.llm.methods.method import Method
from policies.llm.methods.similar import most_similar
from policies.llm.wires.wire import ModelReply, Request

#: Temperatures of curation, and of the curation for a plan.
_PLAIN, _PLAN = 0.0, 0.7

#: Characters of a sheet that is stored, and of one that a plan is given.
_LONGEST, _PLANNED = 40_000, 1_200

#: Limits of a program run, whose output is put into a prompt.
_LIMITS = ProgramLimits(seconds=2.0, output=8_000)

_OPEN, _CLOSE = "<cheatsheet>", "</cheatsheet>"

#: A program that is to be run, and the marker behind its fence that says so.
_FENCE = "```"
_PROGRAM = re.compile(r"```python[ \t]*\n(.*?)```", re.DOTALL)
_MARKER = "<RUN>"

_USING = "A cheatsheet from earlier work; use what helps and check it before you rely on it:\n\n{}"

_RUNNING = (
    "You may have a program run: write it in one ```python block and end your reply with "
    f"{_MARKER}. It has two seconds and the standard library; what it prints is shown to you, and "
    "you then go on."
)

_CURATE = (
    "You keep a cheatsheet of approaches, formulas, pitfalls and worked snippets that help with "
    "tasks such as these. Earlier answers may be wrong. Write the whole new sheet, what is still "
    f"useful of the old one included, between {_OPEN} and {_CLOSE}."
)

_POINTS = (
    "You keep a cheatsheet for a decision that comes up again and again. An episode has ended. "
    f"Write the whole new sheet, at most 12 points, between {_OPEN} and {_CLOSE}."
)


@frozen(kw_only=True)
class Cheatsheet:
    """The memory: the sheet."""

    text: str = ""


@define(eq=False, kw_only=True)
class DynamicCheatsheet(Method):
    """Answers with a cheatsheet, and keeps it.

    Attributes:
        run: Runs the first program of a reply that has one before the marker, if programs are run.
        neighbors: Similar questions that the curator is shown.
        runs: Programs of a reply that are run, one after the other.
    """

    MEMORY: ClassVar[type] = Cheatsheet
    TEMPERATURE = 0.0
    TEMPERATURES: ClassVar[Mapping[Task, float]] = {"plan": 0.7}
    RUNS_PROGRAMS = True
    NEEDS_OUTCOMES = False

    neighbors: int = field(default=3, validator=ge(0))
    runs: int = field(default=3, validator=ge(0))
    run: Callable[[str], str] = field(default=partial(run_block, limits=_LIMITS), init=False)
    #: Texts and answers of a stream's items, by number.
    _texts: dict[int, str] = field(default=Factory(dict), init=False)
    _answers: dict[int, str] = field(default=Factory(dict), init=False)

    # -- answering ---------------------------------------------------------------------------------

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        """Return the answer; of a question, with a sheet of its own that is not stored.

        In further rounds the sheet is rewritten after the answer, and the question asked again with
        both.
        """
        if self.task == "questions":
            return self._generated(item, self._sheet_for(item), temperature)
        reply = self._generated(item, self._sheet, temperature)
        for _ in range(self.times - 1 if self.learns else 0):
            with self.learning():
                self.step(item, reply)
            before = f"Your answer in the round before:\n{reply_text(reply)}"
            reply = self._generated(item, self._sheet, temperature, before)
        return reply

    @property
    def _sheet(self) -> str:
        text: str = self.memory.text
        return text[:_PLANNED] if self.task == "plan" else text

    def _generated(
        self, item: Item, sheet: str, temperature: float | None, before: str = ""
    ) -> ModelReply:
        using = _USING.format(sheet) if sheet else ""
        advice = paragraphs(using, _RUNNING if self._runs_programs else "", before)
        reply = self.act(item, temperature, advice)
        if not self._runs_programs:
            return reply
        return self._ran(item.request(advice, self.own_temperature(temperature)), reply)

    @property
    def _runs_programs(self) -> bool:
        if self.run_programs is None:
            return self.as_published and self.task != "questions"
        return self.run_programs

    def _ran(self, request: Request, reply: ModelReply) -> ModelReply:
        """Run the program of a reply and let the model go on, up to a number of times.

        The text behind a marker is dropped: it was written before the program was run.
        """
        parts: list[str] = []
        for _ in range(self.runs):
            before, marked, _ = reply.text.partition(_MARKER)
            program = _PROGRAM.search(before)
            if not marked or program is None or not before.rstrip().endswith(_FENCE):
                break
            said = f"{before.rstrip()}\n{_MARKER}"
            shown = f"[OUTPUT]\n{_FENCE}\n{self.run(program[1])}\n{_FENCE}"
            turn = assistant_message(evolve(reply, text=said))
            more = [turn, user(f"{shown}\n\nGo on from here.")]
            request = evolve(request, messages=[*request.messages, *more])
            reply = self.complete(request)
            parts += [said, shown]
        return evolve(reply, text="\n\n".join([*parts, reply.text]))

    # -- learning ----------------------------------------------------------------------------------

    def begin_stream(self, items: Sequence[Item]) -> None:
        """Take the items among which similar ones are found."""
        self._texts = {item.number: _item_text(item) for item in items}
        self._answers = {}

    def learn(self, window: Sequence[Answered], _: Grade) -> None:
        """Answer the questions once more in order, storing each sheet and answer."""
        for each in window:
            sheet = self._sheet_for(each.item)
            reply = self._generated(each.item, sheet, None)
            self._store(sheet)
            self._answers[each.item.number] = reply_text(reply)

    def step(self, item: Item, reply: ModelReply) -> None:
        """Have the sheet rewritten after a decision of a game or a message."""
        if self.task in ("game", "interview"):
            text = f"# The task\n{item.situation}\n\n# The answer\n{reply_text(reply)}"
            self._store(sheet_in(self._curated(_CURATE, text, _PLAIN), self.memory.text))

    def learn_episode(self, past: Past) -> None:
        """Have the sheet rewritten after a game or a plan; as published, after a plan alone."""
        if self.task not in (("plan",) if self.as_published else ("game", "plan")):
            return
        decision, result = past.decision, past.outcome.in_words()
        if self.as_published:
            decision, result = as_json(dict(past.outcome.metrics)), str(past.number)
        reply = self._curated(_POINTS, f"# The decision\n{decision}\n\n# Result\n{result}", _PLAN)
        # A reply without tags is taken as the sheet.
        untagged = "" if _OPEN in reply else reply.strip()
        self._store(sheet_in(reply, untagged or self.memory.text))

    def _curated(self, role: str, text: str, temperature: float) -> str:
        old = f"# The cheatsheet so far\n{self.memory.text or '(empty)'}"
        return self.consult(role, f"{old}\n\n{text}", temperature, phase="memory")

    def _sheet_for(self, item: Item) -> str:
        """Return the sheet for a question; without tags in the reply, the similar ones."""
        self._texts[item.number] = _item_text(item)
        pairs = self._similar_pairs(item)
        text = f"{pairs}\n\n# The question to come\n{self._texts[item.number]}"
        return sheet_in(self._curated(_CURATE, text, _PLAIN), pairs)

    def similar(self, item: Item) -> list[int]:
        """Return the numbers of the most similar other items, the most similar first."""
        others = [number for number in self._texts if number != item.number]
        texts = [self._texts[number] for number in others]
        found = most_similar(self._texts[item.number], texts, self.neighbors)
        return [others[index] for index in found]

    def _similar_pairs(self, item: Item) -> str:
        return "\n\n".join(
            f"# An earlier question\n{self._texts[number]}\n"
            f"# The answer given to it\n{self._answers.get(number) or '(none yet)'}"
            for number in reversed(self.similar(item))
        )

    def _store(self, sheet: str) -> None:
        self.memory = Cheatsheet(text=sheet[:_LONGEST])


def sheet_in(reply: str, old: str) -> str:
    """Return the text between the first tags of a reply, which may be empty; else the old sheet."""
    sheet, closed, _ = reply.partition(_OPEN)[2].partition(_CLOSE)
    return sheet.strip() if closed else old


def _item_text(item: Item) -> str:
    return f"Question #{item.number}:\n{item.question}\n\nContext:\n{item.context}"
