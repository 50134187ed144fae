"""The router as an argument of `llm`: which method decides, recorded, cut and resumed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.forked import desim_process, ended
from support.stub import Served, Stub, serving, text
from support.suites import bench, record_of, suite_file, table

from desim import Episode, catalog, play, play_series, replay, resume
from desim.errors import BadRecord, PolicyWarning, UsageError
from desim.schema import from_plain
from policies.llm.methods.build import METHODS
from policies.llm.router.at_seat import MAX_BYTES, read_policy
from policies.llm.router.policy import table_4
from policies.llm.router.predictions import Item

WORLD = catalog.model("beer_game", changes={"horizon": "4"})

#: Debate asks three times, chain of thought once. The third week and later have a longer text.
POLICY = {
    "default_agent": "cot",
    "rules": [{"when": {"task_name": "beer_game"}, "choose": "debate"}],
}


def orders(number: int, _: dict[str, Any]) -> Served:
    """Order another quantity in every reply."""
    return text(json.dumps({"order_qty": number % 7, "note": f"n{number}"}))


@pytest.fixture
def stub() -> Iterator[Stub]:
    """A server that orders."""
    with serving(orders) as served:
        yield served


def spec(stub: Stub, router: object, **more: object) -> str:
    """Return the policy with a router."""
    given = {"model": "stub", "base_url": stub.url, "router": router, **more}
    return ",".join(["llm", *(f"{key}={value}" for key, value in given.items())])


def write(folder: Path, policy: object = POLICY, name: str = "p.json") -> Path:
    """Write a policy to a file."""
    file = folder / name
    file.write_text(json.dumps(policy))
    return file


def methods_of(episode: Episode) -> list[Any]:
    """Return the noted method of each decision."""
    return [(step.notes or {}).get("method") for step in episode.steps]


@pytest.mark.parametrize("key", ["", "policy", "routing_policy"])
def test_a_rule_of_a_file_chooses_by_the_worlds_name(key: str, stub: Stub, tmp_path: Path) -> None:
    """The policy alone, or beside findings; the chosen method makes its calls and is noted."""
    given = {key: POLICY, "meta_findings": ["f"]} if key else POLICY
    chosen = play(WORLD, spec(stub, write(tmp_path, given)))
    assert methods_of(chosen) == ["debate"] * 4
    assert [step.notes["usage"]["calls"] for step in chosen.steps if step.notes] == [3] * 4
    with pytest.warns(PolicyWarning, match="rule 0 never matches: every decision here has task"):
        default = play(
            WORLD,
            spec(stub, write(tmp_path, POLICY | {"rules": [
                {"when": {"task_name": "bizbench"}, "choose": "debate"}]})),
        )  # fmt: skip
    assert methods_of(default) == ["cot"] * 4


def test_features_choose_for_each_decision(stub: Stub, tmp_path: Path) -> None:
    """A bound on the text that some decisions fulfil and others do not."""
    first = play(WORLD, f"llm,model=stub,base_url={stub.url}")
    sizes = sorted(
        len("\n".join(m["content"] for m in body["messages"] if m["role"] == "user"))
        for body in stub.requests
    )
    assert sizes[0] < sizes[-1], first.score
    bound = {"feature_conditions": {"context_chars_max": sizes[1]}}
    file = write(tmp_path, POLICY | {"rules": [{"when": bound, "choose": "self-refine"}]})
    chosen = methods_of(play(WORLD, spec(stub, file)))
    assert set(chosen) == {"self_refine", "cot"}


def test_table_4_says_what_its_rules_need(stub: Stub) -> None:
    """Without labels its default decides, and each rule that cannot match is told once."""
    with pytest.warns(PolicyWarning, match="rule 0 never matches: it needs capability") as told:
        episode = play(WORLD, spec(stub, "table_4"))
    assert len(told) == 1
    assert str(told[0].message).count("never matches") == 5
    assert methods_of(episode) == ["gepa"] * 4


def test_labels_are_asked_for(stub: Stub) -> None:
    """One call more for a decision; then a rule of Table 4 can match."""
    label = text("Capability: Domain Knowledge\nDifficultyScore: 9\nReasoning: r")

    def script(number: int, body: dict[str, Any]) -> Served:
        asked = "You sort questions" in str(body["messages"][0]["content"])
        return label if asked else orders(number, body)

    stub.script = script
    with pytest.warns(PolicyWarning, match="has task_name 'beer_game', not 'finer'") as told:
        episode = play(WORLD, spec(stub, "table_4", router_labels="true"))
    assert "rule 0" not in str(told[0].message)
    assert methods_of(episode) == ["ace"] * 4


def test_a_cut_record_is_resumed_without_a_call_made_twice(stub: Stub, tmp_path: Path) -> None:
    """Cut after every line of its transcript, with methods of one and of several calls."""
    whole = play(WORLD, spec(stub, write(tmp_path)), record=tmp_path / "whole.jsonl")
    sent = list(stub.requests)
    lines = (tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
    assert methods_of(Episode.read(tmp_path / "whole.jsonl")) == ["debate"] * 4
    for cut in range(1, len(lines)):
        replies = sum(b'"entry":{"reply":' in line for line in lines[:cut])
        stub.requests[:] = sent[:replies]
        file = tmp_path / f"cut{cut}.jsonl"
        file.write_bytes(b"".join(lines[:cut]))
        resumed = resume(file, trust=True)
        assert stub.requests == sent
        assert methods_of(resumed) == methods_of(whole)
        assert replay(file).ledger_digest == whole.ledger_digest


def test_a_record_goes_on_with_the_policy_that_it_began_with(stub: Stub, tmp_path: Path) -> None:
    """A file that was changed since then changes no decision, in no later episode either."""
    file = write(tmp_path)
    given = spec(stub, file)
    play_series(WORLD, given, [1, 2], record=tmp_path / "s")
    sent = list(stub.requests)
    (tmp_path / "s" / "episode-002.jsonl").unlink()
    first = tmp_path / "s" / "episode-001.jsonl"
    lines = first.read_bytes().splitlines(keepends=True)
    assert json.loads(lines[1])["entry"]["router"]["rules"][0]["choose"] == "debate"
    write(tmp_path, {"default_agent": "reflexion"})
    for cut in (5, len(lines)):
        first.write_bytes(b"".join(lines[:cut]))
        replies = sum(b'"entry":{"reply":' in line for line in lines[:cut])
        stub.requests[:] = sent[:replies]
        both = play_series(WORLD, given, [1, 2], record=tmp_path / "s", resume=True)
        assert [methods_of(episode) for episode in both] == [["debate"] * 4] * 2
        assert stub.requests == sent
        (tmp_path / "s" / "episode-002.jsonl").unlink()
    first.write_bytes(lines[0] + lines[1].replace(b'{"router":{', b'{"router":5,"was":{'))
    with pytest.raises(BadRecord, match="policy of a router in the transcript is no object"):
        resume(first, trust=True)


def test_a_strangers_record_opens_no_policy(stub: Stub, tmp_path: Path) -> None:
    """The file is named in the refusal, and is not read."""
    file = write(tmp_path)
    play(WORLD, spec(stub, file), record=tmp_path / "r.jsonl")
    lines = (tmp_path / "r.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "r.jsonl").write_bytes(lines[0])
    file.unlink()
    with pytest.raises(UsageError, match=r"opens files or contacts a host .*router="):
        resume(tmp_path / "r.jsonl")


def test_methods_behind_a_router_play_a_series(stub: Stub, tmp_path: Path) -> None:
    """Every method in turn; nothing is learned, so that both episodes send the same."""
    model = catalog.model("beer_game", changes={"horizon": "2"})
    stub.script = lambda _, __: text('{"order_qty": 2, "note": "steady"}')
    for name in METHODS:
        file = write(tmp_path, {"default_agent": name}, f"{name}.json")
        del stub.requests[:]
        played = play_series(model, spec(stub, file, as_published="true"), [3, 3])
        assert [methods_of(episode) for episode in played] == [[name] * 2] * 2
        half = len(stub.requests) // 2
        assert stub.requests[:half] == stub.requests[half:]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"method": "cot"}, "method=cot was given beside a router"),
        ({"memory": "m"}, "memory=m was given beside a router"),
        ({"learning": "eval_only"}, "learning=eval_only was given beside a router"),
        ({"router": "table_5"}, "router=table_5 was given, and there is no such file"),
        ({"router": "", "router_labels": "true"}, "but no router"),
    ],
)
def test_wrong_options_are_refused(more: dict[str, object], why: str, stub: Stub) -> None:
    """Before anything is sent."""
    given = {"router": "table_4", **more}
    texts = [f"{key}={value}" for key, value in given.items() if value != ""]
    with pytest.raises(UsageError, match=why):
        play(WORLD, ",".join([f"llm,model=stub,base_url={stub.url}", *texts]))
    assert stub.requests == []


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is no policy"),
        (b"[]", "is no policy"),
        (b"{}", "no JSON object with rules or default_agent"),
        (b"[" * 100_000, "is no policy"),
        (b"\xff\xfe", "is no policy"),
        (b" " * (MAX_BYTES + 1), "larger than 1 MiB"),
    ],
)
def test_a_strangers_policy_is_checked(content: bytes, why: str, tmp_path: Path) -> None:
    """One sentence says what is wrong."""
    (tmp_path / "p").write_bytes(content)
    with pytest.raises(UsageError, match=why):
        read_policy(str(tmp_path / "p"))
    with pytest.raises(UsageError, match="there is no such file"):
        read_policy(str(tmp_path))


def test_the_papers_policy_is_the_one_that_ships() -> None:
    """By its name."""
    assert read_policy("table_4") == table_4()


# -- in a suite ------------------------------------------------------------------------------------

ALL = (
    "by_item.numerical_calculation + by_item.domain_knowledge + by_item.information_extraction"
    " + by_item.complex_reasoning"
)

QUESTIONS = """
[worlds.questions]
model = "reasoning/online"
columns = [{ name = "right", figure = "ALL", show = "share" }]
""".replace("ALL", ALL)

#: The right answers, and whether they take numbers, by the question.
ANSWERS = {
    (one.context, one.question): (one.answer, one.capability == "Numerical Calculation")
    for one in catalog.model("reasoning", changes={"split": ""}).loaded_items
}


def half_right(_: int, body: dict[str, Any]) -> Served:
    """Answer numerical questions of one method right, and all others of another."""
    told, *asked = [each["content"] for each in body["messages"]]
    context, question = asked if len(asked) > 1 else ("", asked[0])
    answer, numerical = next(
        found
        for (about, what), found in ANSWERS.items()
        if what in question and (about in context or about in question)
    )
    right = ("small steps" in told) == numerical
    return text(json.dumps({"reasoning": "", "final_answer": answer if right else "no"}))


def test_a_router_learns_from_the_answers_of_a_suite(tmp_path: Path) -> None:
    """It answers as the better method of each kind of question does, without a call."""
    out = tmp_path / "out"
    with serving(half_right) as stub:
        model = f'model = "m"\nbase_url = "{stub.url}"\nmethod = '
        entries = {
            "refine": f'{model}"self_refine"\noptions = {{ rounds = 0 }}',
            "router": f'{model}""\noptions = {{ router = "offline" }}',
        }
        # The second suite has one method more, so that the router learns and answers again.
        for more, calls in (
            ({}, 84),
            ({"cot": f'{model}"cot"'}, 84),
            ({"cot": f'{model}"cot"'}, 0),
        ):
            stub.requests.clear()
            suite = suite_file(tmp_path, "", QUESTIONS, model="", **entries, **more)
            code, _, errors = bench(suite, out)
            assert code == 0, errors
            assert len(stub.requests) == calls
            told = "router=offline: the rules were learned from questions that are asked here"
            assert (errors.count("rule"), told in errors) == ((1, True) if calls else (0, False))
    right = {entry: columns["right"]["mean"] for entry, columns in table(out).items()}
    # The seven easy questions of knowledge are too few for a rule.
    assert right["refine"] + right["cot"] == pytest.approx(1)
    assert right["router"] >= 74 / 84 > right["refine"] > right["cot"]
    lines = (out / "predictions.jsonl").read_bytes().splitlines()
    items = [from_plain(json.loads(line), Item) for line in lines]
    assert {*items[0].predictions} == {"cot", "self_refine"}
    assert (len(items), items[0].situation.features is None) == (84, False)
    assert {one.gold for one in items} <= {answer for answer, _ in ANSWERS.values()}
    done = ended(desim_process("verify", str(out), cwd=tmp_path))
    assert done.code == 0, done.out


SPLITS = """
[worlds.seen]
model = "reasoning/online"
set = { split = "train" }

[worlds.new]
model = "reasoning/online"
repeats = 2
columns = [{ name = "right", figure = "ALL", show = "share" }]
""".replace("ALL", ALL)


#: The form of Appendix A.3.
RULES = {
    "meta_findings": ["numbers take small steps"],
    "routing_policy": {
        "default_agent": "self_refine",
        "rules": [{"when": {"capability": "Numerical Calculation"}, "choose": "cot"}],
    },
}


def rules_or_answers(number: int, body: dict[str, Any]) -> Served:
    """Draw a lesson or write rules where they are asked for, and else answer."""
    told: str = body["messages"][0]["content"]
    if told.startswith("You study how"):
        return text('{"bullet": "steps suit numbers"}')
    return text(json.dumps(RULES)) if told.startswith(ASKS) else half_right(number, body)


#: The beginning of a request for rules.
ASKS = "You write the rules"


def test_a_suites_routers_learn_from_questions_of_other_worlds(tmp_path: Path) -> None:
    """By counting, and by the model in calls of each episode; new questions take no call.

    A server that fails in between ends the command; the same command goes on after its last reply.
    """
    out = tmp_path / "out"
    failing = [True]

    def script(number: int, body: dict[str, Any]) -> Served:
        served = rules_or_answers(number, body)
        is_lesson = "steps suit numbers" in str(served.body) and number % 7 == 0
        return Served(status=400) if is_lesson and failing and failing.pop() else served

    with serving(script) as stub:
        model = f'model = "m"\nbase_url = "{stub.url}"\nprice_in = 1\nprice_out = 1\nmethod = '
        suite = suite_file(
            tmp_path, "", SPLITS, model="",
            refine=f'{model}"self_refine"\noptions = {{ rounds = 0 }}',
            cot=f'{model}"cot"',
            **{
                kind: f'{model}""\noptions = {{ router = "{kind}" }}\nworlds = ["new"]'
                for kind in ("offline", "offline_lessons")
            },
        )  # fmt: skip
        assert bench(suite, out)[0] == 1
        code, _, errors = bench(suite, out)
        assert code == 0, errors
        assert "learned from questions that are asked here" not in errors
        told = [[each["content"] for each in body["messages"]] for body in stub.requests]
        assert bench(suite, out)[0] == 0
        assert len(stub.requests) == len(told)
    # Two repeats, and the request that failed.
    lessons = [asked[1] for asked in told if asked[0].startswith("You study how")]
    assert len(lessons) == 2 * len({*lessons}) + 1
    read = sorted(asked[1] for asked in told if asked[0].startswith(ASKS))
    assert ["steps suit numbers" in each for each in read] == [True, True]
    right = {entry: columns["right"]["mean"] for entry, columns in table(out, "new").items()}
    assert right["offline"] >= max(right["refine"], right["cot"]) > 0
    record = Episode.read(record_of(out, "new__offline_lessons__seed0__1"))
    assert record.transcript[-1].entry["router"]["rules"][0]["choose"] == "cot"
    done = ended(desim_process("verify", str(out), cwd=tmp_path))
    assert done.code == 0, done.out
