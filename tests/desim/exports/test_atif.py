"""Trajectories: what they hold of a record, that Harbor takes them, and that records come back."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.cases import thinned
from support.failing_world import BadCarter, Mill
from support.recorded import lines_of
from support.stub import Served, call, message, serving, text
from support.trajectories import check_trajectory

import desim
from desim import catalog
from desim.errors import BadRecord, DesimError, UsageError
from desim.exports.atif import trajectory, write_trajectory
from desim.exports.atif_record import import_trajectory
from models.beer_game import BeerGame

GAME = BeerGame(horizon=3)


def played(folder: Path, *answers: Served, world: Any = GAME, more: str = "") -> Path:
    """Return the record of a game of a language model that gives these answers."""
    with serving(*answers) as stub:
        policy = f"llm,model=qwen3,base_url={stub.url}{more}"
        desim.play(world, policy, 1, record=folder / "game.jsonl")
    return folder / "game.jsonl"


def agent_steps(plain: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of the agent."""
    check_trajectory(plain)
    return [step for step in plain["steps"] if step["source"] == "agent"]


def harbor_errors(file: Path) -> list[str]:
    """Return what Harbor finds wrong; nothing where it is not installed."""
    validator = pytest.importorskip("harbor.utils.trajectory_validator").TrajectoryValidator()
    validator.validate(file)
    return [str(error) for error in validator.get_errors()]


@pytest.mark.parametrize("name", thinned(catalog.models(), 2))
def test_a_record_of_every_world_comes_back_byte_by_byte(name: str, tmp_path: Path) -> None:
    """The record of a rule, and one that is read from its trajectory, are the same file."""
    model = catalog.model(name)
    record = tmp_path / "played.jsonl"
    desim.play(model, catalog.baselines(model)[0], 1, record=record)
    file = write_trajectory(record, tmp_path / "out")
    check_trajectory(json.loads(file.read_bytes()))
    import_trajectory(file, tmp_path / "back.jsonl")
    assert (tmp_path / "back.jsonl").read_bytes() == record.read_bytes()


def test_a_record_of_a_language_model_comes_back_and_replays(tmp_path: Path) -> None:
    """Its decisions, notes and result are those of the record."""
    record = played(tmp_path, text('{"order_qty": 6}'))
    file = write_trajectory(record, tmp_path)
    import_trajectory(file, tmp_path / "back.jsonl.gz")
    back, before = desim.replay(tmp_path / "back.jsonl.gz"), desim.Episode.read(record)
    assert back.ledger_digest == before.ledger_digest
    assert (back.header, list(back.steps), back.result) == (
        before.header,
        list(before.steps),
        before.result,
    )


def test_harbor_takes_what_every_policy_leaves(tmp_path: Path) -> None:
    """Its validator finds nothing in trajectories of a rule, of texts, of calls, of no decision."""
    answers = [text("hm"), text('{"order_qty": 6}'), call(("order", "{")), text(None)]
    games: dict[str, Any] = {
        "texts": played(tmp_path, *answers),
        "rule": tmp_path / "rule.jsonl",
        "none": tmp_path / "none.jsonl",
    }
    desim.play(GAME, "base_stock", 1, record=games["rule"])
    games["none"].write_text(games["rule"].read_text().splitlines(keepends=True)[0])
    for name, record in games.items():
        assert harbor_errors(write_trajectory(record, tmp_path / name)) == []


def test_a_decision_holds_prompt_reasoning_action_and_metrics(tmp_path: Path) -> None:
    """The system prompt comes once, then each question and the reply that took the decision."""
    usage = {
        "prompt_tokens": 300,
        "completion_tokens": 70,
        "prompt_tokens_details": {"cached_tokens": 256},
    }
    answer = message(content='{"order_qty": 6}', reasoning="Demand is 6.", usage=usage)
    plain = trajectory(played(tmp_path, answer))
    check_trajectory(plain)
    sources = [step["source"] for step in plain["steps"]]
    assert sources == ["system", "user", "agent", "user", "agent", "user", "agent"]
    step = plain["steps"][2]
    assert step["message"] == '{"order_qty": 6}'
    assert step["reasoning_content"] == "Demand is 6."
    assert (step["llm_call_count"], step["model_name"]) == (1, "qwen3")
    assert step["tool_calls"] == [
        {
            "tool_call_id": "decision-1",
            "function_name": "order",
            "arguments": {"quantity": 6},
            "extra": {"desim": {"action": True}},
        }
    ]
    tokens = {name: step["metrics"][name] for name in usage if name in step["metrics"]}
    assert tokens == {"prompt_tokens": 300, "completion_tokens": 70}
    assert step["metrics"]["cached_tokens"] == 256
    end = plain["final_metrics"]
    assert (end["total_prompt_tokens"], end["total_cached_tokens"]) == (900, 768)
    assert end["extra"]["default_share"] == 0
    assert end["extra"]["score"] == desim.Episode.read(tmp_path / "game.jsonl").score


def test_a_decision_of_one_call_has_its_cost(tmp_path: Path) -> None:
    """By the prices of the policy, with which the total agrees."""
    prices = ",price_in=1000000,price_out=0"
    plain = trajectory(played(tmp_path, text('{"order_qty": 6}'), more=prices))
    steps = agent_steps(plain)
    assert [step["metrics"]["cost_usd"] for step in steps] == [10, 10, 10]
    assert plain["final_metrics"]["total_cost_usd"] == 30


def test_each_conversation_of_a_method_lists_its_prompt_once(tmp_path: Path) -> None:
    """The player's and the critic's, whose requests alternate."""
    answer = text('{"order_qty": 6}')
    plain = trajectory(played(tmp_path, answer, more=",method=self_refine"))
    check_trajectory(plain)
    prompts = [step["message"] for step in plain["steps"] if step["source"] == "system"]
    assert len(prompts) == len(set(prompts)) >= 2


def test_a_repaired_decision_is_a_step_for_each_reply(tmp_path: Path) -> None:
    """The bad reply and the message that refuses it stand before the reply that decided."""
    record = played(tmp_path, text("hm"), text('{"order_qty": 6}'))
    plain = trajectory(record)
    bad, good = agent_steps(plain)[:2]
    assert (bad["message"], "tool_calls" in bad, bad["llm_call_count"]) == ("hm", False, 1)
    assert good["tool_calls"][0]["arguments"] == {"quantity": 6}
    between = plain["steps"][bad["step_id"]]
    assert (between["source"], between["step_id"]) == ("user", good["step_id"] - 1)


def test_a_default_action_is_a_step_without_a_model(tmp_path: Path) -> None:
    """After the replies that were not readable; the share of defaults is in the final metrics."""
    plain = trajectory(played(tmp_path, text("hm")))
    steps = agent_steps(plain)[:4]
    assert [step["llm_call_count"] for step in steps] == [1, 1, 1, 0]
    assert steps[-1]["tool_calls"][0]["function_name"] == "order"
    assert plain["final_metrics"]["extra"]["default_share"] == 1


def test_calls_and_their_results_belong_together(tmp_path: Path) -> None:
    """A tool's message is a result in the step that made the call."""
    world = catalog.model("yc_bench")
    answers = call(("sim_resume", {}))
    steps = agent_steps(trajectory(played(tmp_path, answers, world=world, more=",max_calls=3")))
    first = steps[0]
    assert first["tool_calls"][0]["function_name"] == "sim_resume"
    (result,) = first["observation"]["results"]
    assert result["source_call_id"] == first["tool_calls"][0]["tool_call_id"]
    assert result["content"]


def test_arguments_that_are_no_object_stay_as_raw_text(tmp_path: Path) -> None:
    """The format takes objects alone."""
    plain = trajectory(
        played(tmp_path, call(("order", '{"order_qty": ')), text('{"order_qty": 6}'))
    )
    (first, *_) = agent_steps(plain)
    assert first["tool_calls"][0]["arguments"] == {}
    assert first["tool_calls"][0]["extra"] == {"desim": {"raw": '{"order_qty": '}}


def test_an_observation_is_the_result_of_the_action_before_it(tmp_path: Path) -> None:
    """The first observation of a rule comes from the user."""
    desim.play(GAME, "base_stock", 1, record=tmp_path / "rule.jsonl")
    first, action, *_ = trajectory(tmp_path / "rule.jsonl")["steps"]
    seen = [line["observation"] for line in lines_of(tmp_path / "rule.jsonl")[1:-1]]
    assert (first["source"], json.loads(first["message"])) == ("user", seen[0])
    assert action["llm_call_count"] == 0
    (result,) = action["observation"]["results"]
    assert json.loads(result["content"]) == seen[1]


def test_cut_and_failed_records_come_back_as_they_were(tmp_path: Path) -> None:
    """Without a result, or with the failure."""
    whole = tmp_path / "whole.jsonl"
    desim.play(GAME, "base_stock", 1, record=whole)
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(b"".join(whole.read_bytes().splitlines(keepends=True)[:3]))
    failed = tmp_path / "failed.jsonl"
    with pytest.raises(DesimError):
        desim.play(Mill(), BadCarter("break"), record=failed)
    for record in (cut, failed):
        file = write_trajectory(record, tmp_path / record.stem)
        import_trajectory(file, tmp_path / f"{record.stem}.back.jsonl")
        assert (tmp_path / f"{record.stem}.back.jsonl").read_bytes() == record.read_bytes()


def test_a_cut_record_has_the_totals_so_far(tmp_path: Path) -> None:
    """Without a score."""
    lines = lines_of(played(tmp_path, text('{"order_qty": 6}')))
    (tmp_path / "cut.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines[:-1]))
    end = trajectory(tmp_path / "cut.jsonl")["final_metrics"]
    assert (end["total_prompt_tokens"], end["extra"]["decisions"]) == (30, 3)
    assert "score" not in end["extra"]


def test_an_existing_file_is_kept(tmp_path: Path) -> None:
    """Both a trajectory and a record."""
    desim.play(GAME, "base_stock", 1, record=tmp_path / "rule.jsonl")
    file = write_trajectory(tmp_path / "rule.jsonl", tmp_path)
    before = file.read_bytes()
    with pytest.raises(UsageError, match="exists and is kept"):
        write_trajectory(tmp_path / "rule.jsonl", tmp_path)
    with pytest.raises(UsageError, match="exists and is kept"):
        import_trajectory(file, tmp_path / "rule.jsonl")
    assert file.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rule.jsonl", "trajectory.json"]


STRANGE = {
    "an empty file": ("", "no trajectory"),
    "no JSON": ("ATIF", "no trajectory"),
    "a number that JSON does not have": ('{"steps": [NaN]}', "NaN is not a number"),
    "another program's": ('{"schema_version": "ATIF-v1.8", "steps": [{}]}', "that desim wrote"),
    "another version": ('{"extra": {"desim": {"format": "x"}}, "steps": []}', "has the format 'x'"),
    "no header": ('{"extra": {"desim": {"format": "desim-atif/1"}}, "steps": []}', "record"),
    "too deep": ("[" * 200_000, "levels"),
}


@pytest.mark.parametrize(("content", "says"), STRANGE.values(), ids=STRANGE)
def test_a_strangers_file_is_refused(content: str, says: str, tmp_path: Path) -> None:
    """With a sentence, and no record is left."""
    file = tmp_path / "strange.json"
    file.write_text(content)
    with pytest.raises(BadRecord, match=says):
        import_trajectory(file, tmp_path / "back.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["strange.json"]


ALTERED = {
    "a decision is missing": (lambda plain: plain["steps"].pop(), "its end counts"),
    "a decision has no role": (
        lambda plain: plain["steps"][1]["extra"]["desim"]["decision"].pop("role"),
        "role",
    ),
    "the header has another format": (
        lambda plain: plain["extra"]["desim"]["header"].update(format="x"),
        "format 'x'",
    ),
    "the header is that of a tagged record": (
        lambda plain: plain["extra"]["desim"]["header"].update(seed="1"),
        "seed",
    ),
}


@pytest.mark.parametrize(("change", "says"), ALTERED.values(), ids=ALTERED)
def test_an_altered_trajectory_is_refused(change: Any, says: str, tmp_path: Path) -> None:
    """Where its lines do not make a record; a record that they make is judged by its replay."""
    desim.play(GAME, "base_stock", 1, record=tmp_path / "rule.jsonl")
    plain = trajectory(tmp_path / "rule.jsonl")
    change(plain)
    (tmp_path / "altered.json").write_text(json.dumps(plain))
    with pytest.raises(BadRecord, match=says):
        import_trajectory(tmp_path / "altered.json", tmp_path / "back.jsonl")
    assert not (tmp_path / "back.jsonl").exists()


def test_an_import_imports_and_opens_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module that the header names is refused by the replay, and was not imported before."""
    (tmp_path / "strangers_world.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    desim.play(GAME, "base_stock", 1, record=tmp_path / "rule.jsonl")
    plain = trajectory(tmp_path / "rule.jsonl")
    plain["extra"]["desim"]["header"]["model"] = "strangers_world:World"
    (tmp_path / "altered.json").write_text(json.dumps(plain))
    import_trajectory(tmp_path / "altered.json", tmp_path / "back.jsonl")
    assert "strangers_world" not in sys.modules
    with pytest.raises(UsageError, match="would import module 'strangers_world'"):
        desim.replay(tmp_path / "back.jsonl")


def test_a_record_without_requests_has_its_replies(tmp_path: Path) -> None:
    """Records of earlier formats hold no prompts; the observations take their place."""
    record = played(tmp_path, text('{"order_qty": 6}'))
    lines = [line for line in lines_of(record) if "texts" not in line.get("entry", ())]
    for line in lines:
        if "request" in line.get("entry", ()):
            line["entry"] = {"request": line["entry"]["request"]}
    old = tmp_path / "old.jsonl"
    old.write_text("".join(json.dumps(line) + "\n" for line in lines[:-1]))
    steps = trajectory(old)["steps"]
    assert [step["source"] for step in steps] == ["user", "agent", "agent", "agent"]
    assert [step["llm_call_count"] for step in steps[1:]] == [1, 1, 1]
    assert json.loads(steps[1]["observation"]["results"][0]["content"])["week"] == 1


def test_a_reply_that_is_no_reply_is_refused(tmp_path: Path) -> None:
    """A record may come from a stranger."""
    record = played(tmp_path, text('{"order_qty": 6}'))
    lines = lines_of(record)[:-1]
    for line in lines:
        if "reply" in line.get("entry", ()):
            line["entry"]["reply"]["calls"] = 3
    (tmp_path / "odd.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(BadRecord, match="call 1 of retailer is not readable"):
        trajectory(tmp_path / "odd.jsonl")
