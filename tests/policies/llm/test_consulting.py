"""Case interviews with language models at the seats: published calls, and replies of all kinds."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from attrs import define, field
from support.method_traces import Replayed, built, dialogue
from support.paths import REFERENCE
from support.scripted import conversation_at, player, worded
from support.scripted import seat_of as seat_at
from support.stub import Served, serving, text

from desim import Episode, play, play_series
from desim.composition import Composite
from desim.episodes.lineup import seat_of
from desim.episodes.series import part_episode
from desim.errors import PolicyFailed
from models.consulting import CandidateView, Case, Consulting, Reply
from models.consulting.seats import END, FIELDS, Message
from policies.llm.methods.build import METHODS
from policies.llm.methods.items import Item, Setting
from policies.llm.methods.playbook import Playbook
from policies.llm.wires.wire import ModelReply, Request
from policies.llm.worlds.consulting import STOCK

ROLES = ("interviewer", "candidate", "judge")


def read(name: str) -> list[Any]:
    """Return the runs of a reference file; a skipped case where it is absent."""
    file = REFERENCE / "firmbench" / "vectors" / name
    if not file.exists():
        why = "no reference data firmbench/vectors: set DESIM_REFERENCE to its folder"
        return [pytest.param({}, marks=pytest.mark.skip(reason=why), id="absent")]
    return [pytest.param(run, id=run["id"]) for run in json.loads(file.read_text())["runs"]]


# -- the interview loop ----------------------------------------------------------------------------


@define
class Trace:
    """An endpoint that gives the replies of a run; each role is a model of that name.

    Attributes:
        replies: Replies still to come, by role.
        bodies: Requests by role, in order.
    """

    replies: dict[str, list[str]]
    bodies: dict[str, list[dict[str, Any]]] = field(factory=lambda: {role: [] for role in ROLES})

    def __call__(self, _: int, body: dict[str, Any]) -> Served:
        """Return the next reply of a role."""
        self.bodies[body["model"]].append(body)
        return text(self.replies[body["model"]].pop(0))


@pytest.mark.parametrize("run", read("consulting_interview_traces.json"))
def test_a_run_of_the_interview_loop(run: dict[str, Any]) -> None:
    """The same calls with the same fields and facts, the same dialogue, the same scores."""
    cases = tuple(
        Case(id=c.get("case_id", ""), opening=c.get("opening", ""), document=c["case_text"])
        for c in run["cases"]
    )
    kept = {interview["case_index"]: interview for interview in run["interviews"]}
    calls, log = iter(run["calls"]), []
    for index in range(len(cases)):
        one = [next(calls)]
        while index in kept and one[-1]["role"] != "judge":
            one.append(next(calls))
        log += check_interview(run, cases, index, kept.get(index), one)
    assert log == [tuple(hook) for hook in run["candidate_hook_log"]]
    check_means(run)


def check_interview(
    run: Mapping[str, Any],
    cases: tuple[Case, ...],
    index: int,
    interview: Mapping[str, Any] | None,
    calls: list[Mapping[str, Any]],
) -> list[tuple[Any, ...]]:
    """Play one interview of a run and return the moments at which its candidate is called.

    An interview without a dialogue is ended by an error of the candidate.
    """
    history = interview["history"] if interview else []
    said = [each["content"] for each in history if each["role"] == "candidate"]
    replies: dict[str, list[str]] = {role: [] for role in ROLES}
    replies["candidate"] = [json.dumps({"reply": each}) for each in said]
    for call in calls:
        replies[call["role"]].append(call["reply"])
    trace = Trace(replies)
    with serving(trace) as stub:
        policies: dict[str, Any] = {role: f"llm,model={role},base_url={stub.url}" for role in ROLES}
        log: list[tuple[Any, ...]] = [("start", cases[index].id or "unknown_case")]
        if interview is None:

            def raising(seen: CandidateView) -> Reply:
                log.append(("reply", seen.case_id, len(seen.dialogue)))
                raise RuntimeError("no answer")

            policies["candidate"] = raising
            with pytest.raises(PolicyFailed, match="RuntimeError"):
                play(Consulting(cases=cases), policies, index)
        else:
            policies["candidate"] += ",method=cot"
            episode = play(Consulting(cases=cases), policies, index)
            check_episode(run, episode, interview)
            log += hooks_of(episode)
    check_calls(calls, trace)
    return log


def hooks_of(episode: Episode) -> list[tuple[Any, ...]]:
    """Return the candidate's decisions and the end: case, messages so far, and who ended it."""
    views = [step.observation for step in episode.steps if step.role == "candidate"]
    figures = episode.metrics
    name = next((view.case_id for view in views), figures["case"])
    # The published hooks know a case without an id by no number.
    name = "unknown_case" if name.startswith("case_0") else name
    end = ("end", name, figures["messages"], int(figures["ended_by_interviewer"]))
    return [*(("reply", view.case_id, len(view.dialogue)) for view in views), end]


def check_episode(run: Mapping[str, Any], episode: Episode, interview: Mapping[str, Any]) -> None:
    """Compare dialogue and scores with the run."""
    judged = next(step.observation for step in episode.steps if step.role == "judge")
    dialogue = [{"role": each.role, "content": each.text} for each in judged.dialogue]
    assert dialogue == interview["history"]
    scores = interview["judge_scores"]
    for name in FIELDS:
        assert episode.metrics[name] == scores.get(name)
    assert episode.score == scores.get("overall", 0)
    # A judge's own bookkeeping, which the original lets replace its own, is not read here.
    if run["id"] != "judge_sets_bookkeeping_fields":
        assert episode.metrics["ended_by_interviewer"] == scores["ended_by_interviewer"]
        assert episode.metrics["messages"] == scores["turns_used"]


def check_calls(calls: list[Mapping[str, Any]], trace: Trace) -> None:
    """Compare the requests of interviewer and judge with the calls of the run."""
    made = {role: iter(bodies) for role, bodies in trace.bodies.items()}
    for call in calls:
        body = next(made[call["role"]])
        prompt = "\n".join(message["content"] for message in body["messages"])
        shown = body["messages"][-1]["content"].partition("# The dialogue")[2]
        left = re.search(r"Messages left[^:]*: (\d+)", prompt)
        assert body["temperature"] == call["temperature"]
        assert ("response_format" in body) == call["json_mode"]
        assert body["max_completion_tokens"] == call["max_tokens"]
        assert [message["role"] for message in body["messages"]] == call["messages"]
        assert (int(left[1]) if left else None) == call["messages_left"]
        assert (END in shown.partition("Messages left")[0]) == call["end_token_in_dialogue_shown"]
        assert ("CASEMARK" in prompt) == call["contains"]["case_text"]
        assert ("OPENMARK" in prompt) == call["contains"]["opening"]
        # The first words of a message mark it in the runs; an "x" alone would be found anywhere.
        for side, mark in (("interviewer", "IM1"), ("candidate", "CM1")):
            assert (mark in prompt) == call["contains"][f"{side}_message_1"]
    assert [next(made[role], None) for role in ("interviewer", "judge")] == [None, None]
    for body in trace.bodies["candidate"]:
        assert (body["temperature"], body["max_completion_tokens"]) == (0.7, 512)
        assert body["response_format"] == {"type": "json_object"}


def check_means(run: Mapping[str, Any]) -> None:
    """A field that a judge left out is left out of its mean, and a failed case of all."""
    judged = [interview["judge_scores"] for interview in run["interviews"]]
    for name, mean in run["summary"]["metrics"].items():
        given = [scores[name] for scores in judged if name in scores]
        assert sum(given) / len(given) == mean


# -- candidates by method --------------------------------------------------------------------------


def candidates() -> list[Any]:
    """Return the dialogues of every method's trace."""
    return [
        pytest.param(method, run, id=method)
        for method in METHODS
        for param in read(f"method_traces_{method}.json")
        for run in param.values
        if run.get("id", "").startswith("consulting_two")
    ]


@pytest.mark.parametrize(("method", "run"), candidates())
def test_a_candidate_with_a_method(method: str, run: dict[str, Any]) -> None:
    """Tokens, the form of the response, and what becomes of replies that hold no JSON."""
    seat = seat_at(Consulting(), "candidate")
    talk: Any = conversation_at(seat, method=method)
    replies = [step for step in run["steps"] if step["step"].startswith("reply")]
    first = replies[0]["calls"][0]
    most = max(call["max_tokens"] for step in run["steps"] for call in step.get("calls", []))
    assert talk.request_fields["max_completion_tokens"] == most
    assert ("response_format" in talk.request_fields) == first["json_mode"]
    assert "temperature" not in talk.request_fields
    model = Replayed([call for step in run["steps"] for call in step.get("calls", [])])
    made = built(
        METHODS[method],
        complete=model,
        setting=Setting(task="interview"),
        as_published=True,
        **({"memory": Playbook(text="## OTHERS")} if method == "ace" else {}),
    )
    for number, step in enumerate(replies, 1):
        item = Item.of(Request(dialogue(number)), task="interview")
        reply = made.answer(item)
        made.step(item, reply)
        said = talk.read(reply, None).action.text
        wanted = STOCK if step["result"] == "(STOCK SENTENCE)" else step["result"]
        # GEPA's published candidate sends the JSON around its reply to the interviewer, too.
        assert said == (json.loads(wanted)["reply"] if wanted.startswith("{") else wanted)


def test_a_candidate_is_shown_the_dialogue_and_nothing_of_the_case() -> None:
    """As a chat that begins with the interviewer; the episode's case is known afterwards."""
    model = Consulting(case="merger")
    case = model.loaded_cases[model.chosen(0)]
    policy, llm = player(seat_at(model, "candidate"), lambda n: worded(f'{{"reply": "A{n}?"}}'))
    episode = play(model, {"candidate": policy}, 0)
    last = llm.sent[-1]
    assert [message["role"] for message in last] == ["system", *["user", "assistant"] * 5, "user"]
    assert last[1]["content"].startswith("Alderby Opticians")
    assert last[2]["content"] == '{"reply": "A0?"}'
    sent = json.dumps(llm.sent)
    assert not any(
        part in sent for part in (case.title, case.internal, *(f.fact for f in case.gated))
    )
    talk: Any = policy.conversation
    assert talk.setting.task == "interview"
    assert talk.name_of(episode) == "merger"
    assert talk.revealed(episode) == case.text


def test_the_case_of_a_part_is_the_parts() -> None:
    """Its seed is not the one in the header."""
    group = Composite({"talk": Consulting(messages=2)})
    seats = [seat_of(group, "talk.candidate", seed) for seed in range(8)]
    played = set()
    for seed, seat in enumerate(seats):
        talk: Any = conversation_at(seat)
        episode = play(group, {"talk.candidate": "silent"}, seed)
        inside = part_episode(episode, group, "talk.candidate")
        assert talk.revealed(inside).startswith(inside.steps[0].observation.last[:20])
        played.add(talk.name_of(inside))
    assert len(played) > 2


# -- replies ---------------------------------------------------------------------------------------

WRONG = dict.fromkeys(FIELDS, 0.0)
NONE = dict.fromkeys(FIELDS)
SCORES = {"structure": 6, "quant": 5.5, "business_sense": 7, "communication": 8, "overall": 6.5}


@pytest.mark.parametrize(
    ("reply", "scores", "feedback"),
    [
        (json.dumps({**SCORES, "feedback": "fine"}), SCORES, "fine"),
        ("no scores at all", WRONG, ""),
        ('{"structure": 6', WRONG, ""),
        (f'First {{"case": "x"}}, then {json.dumps(SCORES)}', SCORES, ""),
        ('{"verdict": "good"}', NONE, ""),
        ("", NONE, ""),
        (json.dumps({**SCORES, "quant": "5"}), {**SCORES, "quant": None}, ""),
        (json.dumps({**SCORES, "overall": True}), {**SCORES, "overall": None}, ""),
        (json.dumps({**SCORES, "overall": -3}), {**SCORES, "overall": -3}, ""),
        (json.dumps({**SCORES, "quant": 10**400}), {**SCORES, "quant": None}, ""),
    ],
)  # fmt: skip
def test_what_a_judges_reply_means(reply: str, scores: dict[str, Any], feedback: str) -> None:
    """Numbers as they are; what is no number is left out; no object scores 0 everywhere."""
    talk = conversation_at(seat_at(Consulting(), "judge"))
    verdict = talk.read(ModelReply(reply), None).action
    assert {name: getattr(verdict, name) for name in FIELDS} == scores
    assert verdict.feedback == feedback


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ('{"reply": " Which market? "}', "Which market?"),
        ('I think {"reply": "A"} or {"reply": "B"}', "A"),
        ('{"final_answer": {"reply": "A"}}', "A"),
        ('{"reasoning": "x", "final_answer": "A"}', "A"),
        ('{"reply": 7}', STOCK),
        ("Which market?", STOCK),
        ("", STOCK),
    ],
)
def test_what_a_candidates_reply_means(reply: str, said: str) -> None:
    """Where nothing can be read, a stock sentence is said, and no call is made again."""
    policy, llm = player(seat_at(Consulting(), "candidate"), lambda _: worded(reply))
    view = CandidateView("c", "Hello.", (Message("interviewer", "Hello."),), None)
    assert policy.decide(view) == Reply(said)
    assert len(llm.sent) == 1


def test_a_refusal_is_asked_for_again() -> None:
    """Then the stock sentence, the polite stop, or zeros."""
    model = Consulting()
    view = CandidateView("c", "Hello.", (Message("interviewer", "Hello."),), None)
    policy, llm = player(seat_at(model, "candidate"), lambda _: worded("", refusal="no"))
    assert policy.decide(view) == Reply(STOCK)
    assert len(llm.sent) == 3
    ends = {"interviewer": ("text", ""), "judge": ("overall", 0)}
    for role, (name, value) in ends.items():
        talk = conversation_at(seat_at(model, role))
        assert getattr(talk.fallback(None), name) == value


def test_the_users_own_fields_go_first() -> None:
    """Temperature and tokens of the argument; the form of the response is that of the mode."""
    with serving(text('{"reply": "A?"}')) as stub:
        spec = f"llm,model=m,base_url={stub.url},temperature=0.2,reply_tokens=99"
        play(Consulting(messages=2), spec, 0)
        [body] = stub.requests
        assert (body["temperature"], body["max_completion_tokens"]) == (0.2, 99)
        assert body["response_format"] == {"type": "json_object"}
        for mode in ("tools", "schema"):
            play(Consulting(messages=2), f"llm,model=m,base_url={stub.url},mode={mode}", 0)
            form = stub.requests[-1].get("response_format", {}).get("type")
            assert form == (None if mode == "tools" else "json_schema")


# -- whole episodes --------------------------------------------------------------------------------


def test_memories_learn_from_the_case_once_it_is_over() -> None:
    """The case's text is in calls of the next episode, under its own id, and in none before."""
    model = Consulting(messages=2)
    cases = model.loaded_cases
    with serving(text('{"reply": "A?", "operations": []}')) as stub:
        spec = f"llm,model=m,base_url={stub.url},method=amem"
        play_series(model, spec, [0, 1, 2])
        sent = [json.dumps(body["messages"], ensure_ascii=False) for body in stub.requests]
    for number in range(3):
        solution = json.dumps(cases[number].internal, ensure_ascii=False)[1:60]
        shown = [at for at, prompt in enumerate(sent) if solution in prompt]
        own = [at for at, prompt in enumerate(sent) if f"id {cases[number].id}." in prompt]
        # The last case has not been learned from: nothing was played after it.
        assert bool(shown) == (number < 2)
        assert all(at > own[0] for at in shown)
    assert any(f"case: {cases[1].id}" in prompt for prompt in sent)
