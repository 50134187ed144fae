"""Every method makes the published calls: their order, temperatures, facts, and the memory."""

import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from attrs import evolve
from support.method_traces import (
    CASE,
    LIMITS,
    METRICS,
    PROJECTS,
    Log,
    NoContent,
    Replayed,
    answer_stream,
    built,
    compare_notes,
    dialogue,
    grade_of,
    items_of,
    observation,
    runs,
    settings_of,
    sixty_four,
)
from support.scripted import conversation_at, seat_of

from desim import catalog
from models.edt.planning import extracted, first_pass
from policies.llm.messages import as_json, system, user
from policies.llm.methods import similar
from policies.llm.methods.ace import Ace
from policies.llm.methods.amem import AgenticMemory
from policies.llm.methods.build import METHODS
from policies.llm.methods.dynamic_cheatsheet import DynamicCheatsheet
from policies.llm.methods.items import Item, Outcome, Past, Setting
from policies.llm.methods.method import Method
from policies.llm.methods.notes import BadNote
from policies.llm.methods.playbook import Playbook, tags_in
from policies.llm.methods.reflexion import Reflexion
from policies.llm.replies import BadReply, objects
from policies.llm.wires.wire import ModelReply, Request
from policies.llm.worlds.consulting import STOCK

#: The published text for an empty reflection is its own; ours is this one.
EMPTY = "(the reflection was empty)"

#: Parameters of a run that its method takes under another name, or that concern its windows.
SEPARATE = ("window", "notes_window", "nearest", "hides_gold")

#: The sections of the playbook with which runs begin.
SECTIONS = "## RULES & HINTS\n\n## LIST OF FORMULAS\n\n## SIDE-NOTES LIST\n\n## OTHERS"

SETTINGS = {
    "qa": Setting(task="questions"),
    "consulting": Setting(task="interview"),
    "beer": Setting(task="game", role="retailer"),
    "edt": Setting(
        task="plan",
        role="manager",
        keys=("C", "R", "P"),
        topics=("EDT", "consultant", "risk", "profit", "utili"),
        goal=("overall_avg_utilization", 0.7),
    ),
    "code": Setting(task="game"),
}


def method_for(
    trace: Mapping[str, Any], run: Mapping[str, Any], model: Replayed, log: Log | None = None
) -> Method:
    """Return the method of a trace with the settings of a run, its defects included."""
    given, name = settings_of(run), trace["method"]
    more = {key: value for key, value in given.items() if key not in SEPARATE}
    if "nearest" in given:
        more["retrieved" if name == "amem" else "neighbors"] = given["nearest"]
    match name:
        case "ace":
            more |= {"memory": start_of(run), "shows_gold": not given.get("hides_gold")}
        case "gepa":
            more = {"start": "PROMPT0", **more, "draws": Recorded([*run.get("random_draws", [])])}
        case "dynamic_cheatsheet" if run["id"].startswith("code_loop"):
            # The program runs in the sandbox, as published, but where that is switched off.
            more["run_programs"] = False if "off" in run["id"] else None
    method = METHODS[name]
    made = built(
        log.of(method) if log else method,
        complete=model,
        setting=SETTINGS[run["id"].split("_")[0]],
        as_published=True,
        learns=run.get("mode") != "eval_only",
        **more,
    )
    if log:
        # What the constructor sets is no change.
        log.memories.clear()
        log.evolutions.clear()
    return made


class Recorded(random.Random):
    """Random draws in their recorded order."""

    def __init__(self, draws: list[Mapping[str, Any]]) -> None:
        super().__init__()
        self.draws = draws

    def _next(self, kind: str) -> Mapping[str, Any]:
        draw = self.draws.pop(0)
        assert draw["draw"] == kind
        return draw

    def sample(self, population: Sequence[Any], k: int, **_: Any) -> list[Any]:
        """Return the next sample."""
        draw = self._next("sample without replacement")
        assert (draw["from"], draw["k"]) == (len(population), k)
        return [population[index] for index in draw["indices"]]

    def random(self) -> float:
        """Return the next uniform number."""
        return float(self._next("uniform")["value"])

    def choices(self, population: Any, weights: Any = None, **_: Any) -> list[Any]:
        """Return the next weighted draw."""
        draw = self._next("weighted")
        assert draw["among"] == population
        assert draw["weights"] == pytest.approx(weights)
        return [draw["value"]]

    def randrange(self, start: int, *_: Any) -> int:
        """Return the next number."""
        draw = self.draws.pop(0)
        value = draw.get("value", draw.get("index"))
        assert isinstance(value, int)
        assert 0 <= value < start
        return value


def start_of(run: Mapping[str, Any]) -> Playbook:
    """Return the playbook with which a run began, which the trace does not state.

    What a run adds is numbered from 1 and below `next_id`; a line that was there has another
    number, and counters that reflections have raised. A run of steps began with the lines after
    its first step, unless that one has added some.
    """
    if "final_state" not in run:
        first = run["steps"][0]
        added = any(event["event"] == "curated" for event in first.get("events", ()))
        lines = [] if added else first["state_after"]["playbook_bullets"]
        return Playbook(text="\n".join([SECTIONS, *lines]))
    final = run["final_state"]
    tagged = [tag for call in run["calls"] for tag in tags_in(call["reply"] or "")]
    tags = [f"{tag['id']} {tag['tag']}" for tag in tagged]
    rows = []
    for row in final["playbook"].split("\n"):
        match = re.match(r"\[([a-z-]+-(\d+))\] helpful=(\d+) harmful=(\d+) (:: .*)", row)
        if not match:
            rows.append(row)
        elif int(match[2]) >= final["next_id"]:
            helpful = int(match[3]) - tags.count(f"{match[1]} helpful")
            harmful = int(match[4]) - tags.count(f"{match[1]} harmful")
            rows.append(f"[{match[1]}] helpful={helpful} harmful={harmful} {match[5]}")
    return Playbook(text="\n".join(rows))


# -- the cases -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("trace", "run"), runs(components=False))
def test_a_run_of_a_trace(
    trace: dict[str, Any], run: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Questions, dialogues, games and plans."""
    monkeypatch.setattr(similar, "hashed", sixty_four)
    kind = run["id"].split("_")[0]
    if kind == "qa":
        questions(trace, run)
    else:
        steps(trace, run)


def questions(trace: Mapping[str, Any], run: Mapping[str, Any]) -> None:
    """Replay a stream of questions."""
    ends, name, log = "run_ends_with_exception" in run, trace["method"], Log()
    model = Replayed(run["calls"], [each["target"] for each in run["items"]])
    # Without content an answer that is only scored is wrong, and a note is lost.
    model.fails = lambda role: (ends and role != "answer_for_score") or role.startswith("note_")
    method, given = method_for(trace, run, model, log), settings_of(run)
    window = given["notes_window" if name == "amem" else "window"]
    if run.get("order", "").startswith("strict"):
        window = 1
    raw = {"dynamic_cheatsheet": "always", "gepa": "fallback"}.get(name, "never")
    grade = grade_of(run, raw=raw)
    options = {"mode": run["mode"], "window": window}
    if ends:
        with pytest.raises(NoContent):
            log.check(answer_stream(method, items_of(run), grade, **options))
        model.done()
        return
    answered = answer_stream(method, items_of(run), grade, **options)
    model.done()
    correct = [each.outcome.correct for each in answered]
    assert (sum(correct), len(correct)) == (run["result"]["correct"], run["result"]["total"])
    # What is scored for a reply without content is no answer of ours.
    if name != "gepa" and all(call["reply"] is not None for call in run["calls"]):
        wrong = [
            {"item": each.item.number, "prediction": each.outcome.answer}
            for each in answered
            if not each.outcome.correct
        ]
        assert wrong == run["wrong_items"]
    STATES.get(name, lambda *_: None)(method, run, log)


def steps(trace: Mapping[str, Any], run: Mapping[str, Any]) -> None:
    """Replay a dialogue, a game or a plan."""
    calls = [call for step in run["steps"] for call in step.get("calls", [])]
    model = Replayed(calls)
    method = method_for(trace, run, model)
    item, reply, decision = None, ModelReply(), ""
    for step in run["steps"]:
        words, fails = step["step"].split(), "raises" in step
        model.fails = lambda _, fails=fails: fails
        number = int(words[-1]) if words[-1].isdigit() else 0
        try:
            match words[0]:
                case "case" | "record" if not (method.learns or method.learns_always):
                    pass
                case "case" if words[1] == "ends":
                    method.learn_episode(past_of(method, item, reply, revealed=CASE))
                case "record":
                    past = past_of(method, item, reply, metrics=METRICS[number - 1])
                    method.learn_episode(evolve(past, number=number - 1, decision=decision))
                case "reply" | "week" | "decide" | "generate":
                    item = item_of(words[0], number)
                    reply = method.answer(item)
                    if words[0] in ("reply", "week") and method.learns:
                        method.step(item, reply)
                    decision = as_json(step["result"])
        except BadNote:
            assert fails
        else:
            RESULTS.get(words[0], lambda *_: None)(trace["method"], reply, step["result"])
        if "state_after" in step:
            after_step(method, step["state_after"])
    model.done()


def item_of(kind: str, number: int) -> Item:
    """Return the item of a step."""
    if kind == "reply":
        return Item.of(Request(dialogue(number)), task="interview")
    shown = {"week": observation(number), "decide": PROJECTS}.get(kind, "a task")
    return Item.of(Request([system("You decide."), user(shown)]))


def past_of(method: Method, item: Item | None, reply: ModelReply, **outcome: Any) -> Past:
    """Return an ended episode."""
    assert item is not None
    return Past(
        name={"plan": "SCENMARK", "interview": "K1"}.get(method.task, ""),
        situation=item.situation,
        # The dialogue of a trace is invented and holds none of its replies.
        answer="" if method.task == "interview" else reply.text,
        outcome=Outcome(**outcome),
    )


def is_order(_: str, reply: ModelReply, wanted: int) -> None:
    """Compare the order of a reply; the default order, where it has none, is no number of it."""
    conversation: Any = conversation_at(seat_of(catalog.model("beer_game")))
    try:
        ordered = conversation.parsed(reply, None).action.quantity
    except BadReply:
        numbers = re.findall(r"-?\d+", re.sub(r"RTOK\d+", "", reply.text))
        assert str(wanted) not in numbers
    else:
        assert ordered == wanted


def is_decision(name: str, reply: ModelReply, wanted: Mapping[str, Any]) -> None:
    """Compare the decision that the world makes of a reply; theirs of AMEM is not unwrapped."""
    given = extracted(reply.text)
    if name == "amem" and any("final_answer" in each for each in objects(reply.text)):
        given = {}
    assert first_pass(given, LIMITS).raw() == wanted


def is_message(name: str, reply: ModelReply, wanted: str) -> None:
    """Compare the message of a reply; ours is also taken out of JSON where theirs is the JSON."""
    seat = seat_of(catalog.model("consulting"), "candidate")
    conversation: Any = conversation_at(seat, method=name)
    said = conversation.parsed(reply, None).action.text
    assert wanted in ("(STOCK SENTENCE)" if said == STOCK else said, reply.text)


def is_text(_: str, reply: ModelReply, wanted: str) -> None:
    """Compare the whole reply."""
    assert reply.text == wanted


#: The comparison of a reply with the result of its step, by the first word of the step.
RESULTS = {"week": is_order, "decide": is_decision, "reply": is_message, "generate": is_text}


# -- memories --------------------------------------------------------------------------------------


def reflections(method: Any, run: Mapping[str, Any], log: Log) -> None:
    """Compare the lessons after every window and at the end."""
    final = run["final_state"]
    assert shown_of(method) == [stand_in(text) for text in final["kept_reflections"]]
    assert method.memory.written == final["lines_in_file"]
    known = [[text.text for text in memory.lessons[-3:]] for memory in log.memories]
    for event in run["events"]:
        wanted = [stand_in(text) for text in event["reflections"]]
        assert wanted in ([], *known)


def shown_of(method: Any) -> list[str]:
    """Return the lessons that the next answer is given."""
    return list(method.memory.shown)


def stand_in(text: str) -> str:
    """Return a lesson of a trace with our text for an empty one."""
    return EMPTY if text.startswith("(stand-in") else text


def notes(method: Any, run: Mapping[str, Any], _: Log) -> None:
    """Compare the notes at the end."""
    final = run["final_state"]
    compare_notes(method, final["notes"])
    assert method.memory.evolutions == final["evolutions"]
    assert len(method.memory.indexed) == final["indexed_documents"]
    for note, wanted in zip(method.memory.notes, final["notes"], strict=True):
        items = sorted({int(n) for n in re.findall(r"QMARK(\d)", note.content)})
        assert items == wanted["items_in_content"]


def sheets(method: Any, run: Mapping[str, Any], log: Log) -> None:
    """Compare the sheets stored, and the similar items of each question."""
    updates = [event for event in run["events"] if "update" in event.values()]
    assert len(log.memories) == len(updates)
    for memory, event in zip(log.memories, updates, strict=True):
        wanted = event["stored_cheatsheet_after"]
        if wanted.startswith("(the retrieved pairs"):
            assert memory.text.count("The answer given to it") == int(re.findall(r"\d+", wanted)[0])
        else:
            assert memory.text == wanted
    assert sorted(method._answers) == run["final_state"]["stored_answers_of_items"]
    for event in run["events"]:
        if event["event"] == "retrieved":
            item = items_of(run)[event["for_row"] - 1]
            assert method.similar(item) == event["rows_most_similar_first"]


def parent_id(parents: Sequence[int]) -> int | list[int]:
    """Return the parents of a candidate as traces hold them: -1 for none, a list for several."""
    return [*parents] if len(parents) > 1 else (*parents, -1)[0]


def evolutions(method: Any, run: Mapping[str, Any], log: Log) -> None:
    """Compare candidates, rounds and prompts of every window."""
    windows, rounds = run["result"]["windows"], run["result"]["trace"]
    assert len(log.evolutions) == len(windows)
    for window, evolution, memory in zip(windows, log.evolutions, log.memories, strict=True):
        mine = [
            {
                "id": index,
                "parent_id": parent_id(each.parents),
                "prompt": each.prompt,
                "scores": list(each.scores),
                "mean_score": each.mean,
            }
            for index, each in enumerate(evolution.candidates)
        ]
        assert mine == window["candidates"]
        assert (memory.best or method.start) == window["prompt_after"]
        theirs = [each for each in rounds if each["window"] == window["window"]]
        for round_, wanted in zip(evolution.steps, theirs, strict=True):
            assert round_.selected == wanted["selected"]
            assert round_.accepted == wanted["accepted"]
            assert round_.budget_left == wanted["budget_left"]
            assert round_.strategy == wanted["strategy"]
            assert round_.new_mean == wanted.get("mean_new")
    assert method.draws.draws == []


def playbooks(method: Any, run: Mapping[str, Any], log: Log) -> None:
    """Compare the playbook after every item and at the end."""
    learned = [event for event in run["events"] if event["event"] == "item_learned"]
    assert [memory.text for memory in log.memories] == [each["playbook"] for each in learned]
    assert [memory.next_id for memory in log.memories] == [each["next_id"] for each in learned]
    assert method.memory.text == run["final_state"]["playbook"]


STATES = {
    "reflexion": reflections,
    "amem": notes,
    "dynamic_cheatsheet": sheets,
    "gepa": evolutions,
    "ace": playbooks,
}


def after_step(method: Any, state: Mapping[str, Any]) -> None:
    """Compare the memory after a step."""
    match method:
        case Reflexion() if "kept" in state:
            mine = [
                {
                    "success": each.success,
                    "utilization": each.goal,
                    "learn_metrics": each.figures["metrics"],
                    "schema": json.loads(each.decision),
                    "reflection": each.text,
                }
                for each in method.memory.lessons
            ]
            assert mine == state["kept"]
        case Reflexion():
            assert shown_of(method) == state["kept_reflections"]
            assert method.memory.written == state["lines_in_file"]
        case AgenticMemory():
            compare_notes(method, state["notes"])
        case DynamicCheatsheet():
            empty = (None, "(empty)")
            assert method.memory.text == (
                "" if state["cheatsheet"] in empty else state["cheatsheet"]
            )
        case Ace():
            rows = [row for row in method.memory.text.splitlines() if row.startswith("[")]
            assert rows == state["playbook_bullets"]
            assert method.memory.next_id == state["next_id"]
        case _:
            raise AssertionError(f"a state {state} of a method without memory")
