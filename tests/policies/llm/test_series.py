"""Series of episodes that learn, cut anywhere and continued: no call is made twice."""

import json
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.cases import thinned
from support.forked import desim_process
from support.paths import PYTHONPATH
from support.stub import Served, serving, text

from desim import Episode, catalog, play_series

PLAN = {"C": 2, "R": 0.5, "P": [[1, 0, 95], *[0] * 9]}

#: A world with short episodes, its seeds, and what learns there.
CASES = {
    "feedback": ("edt", {}, ""),
    "reflexion": ("edt", {}, "method=reflexion,memory={memory}"),
    "sheet": ("beer_game", {"horizon": "3"}, "method=dynamic_cheatsheet,memory={memory}"),
    "notes": ("beer_game", {"horizon": "2"}, "method=amem"),
    "offline": ("edt", {}, "method=ace,learning=offline,train=1"),
    "router": ("beer_game", {"horizon": "2"}, "router={policy}"),
}


def replies(number: int, body: dict[str, Any]) -> Served:
    """Reply to every request in the form of its world, each time otherwise."""
    asked = json.dumps(body["messages"])
    answer = {"order_qty": number % 9, "note": f"n{number}"} if "order_qty" in asked else PLAN
    return text(f"reply {number}: {json.dumps(answer)}")


@pytest.mark.parametrize("case", thinned(CASES, 2))
def test_a_series_goes_on_without_a_call_made_twice(case: str, tmp_path: Path) -> None:
    """Behind lines of every episode; requests, records and memory are those of an uncut series."""
    world, changes, learner = CASES[case]
    model = catalog.model(world, changes=changes)
    (tmp_path / "policy").write_text('{"default_agent": "self_refine"}')
    given = learner.format(memory=tmp_path / "memory", policy=tmp_path / "policy")
    whole, seeds = tmp_path / "whole", [4, 5, 6]
    with serving(replies) as stub:
        spec = ",".join(part for part in (f"llm,model=stub,base_url={stub.url}", given) if part)
        expected = [e.summary() for e in play_series(model, spec, seeds, record=whole)]
        sent = list(stub.requests)
        learned = (tmp_path / "memory").read_bytes() if "{memory}" in learner else b""
        paid = 0
        for episode in range(1, 4):
            file = whole / f"episode-{episode:03d}.jsonl"
            lines = file.read_bytes().splitlines(keepends=True)
            for cut in range(0, len(lines), 1 + len(lines) // 6):
                folder = tmp_path / f"cut{episode}-{cut}"
                folder.mkdir()
                for number in range(1, episode):
                    shutil.copy(whole / f"episode-{number:03d}.jsonl", folder)
                (folder / file.name).write_bytes(b"".join(lines[:cut]))
                before = sum(b'"entry":{"reply":' in line for line in lines[:cut])
                stub.requests[:] = sent[: paid + before]
                # Else the memory is a later one than that of the last line, which must not matter.
                if episode == 1 and cut <= 1:
                    (tmp_path / "memory").unlink(missing_ok=True)
                played = play_series(model, spec, seeds, record=folder, resume=True)
                assert stub.requests == sent
                assert [_timeless(e.summary()) for e in played] == list(map(_timeless, expected))
                if learned:
                    assert (tmp_path / "memory").read_bytes() == learned
            paid += sum(b'"entry":{"reply":' in line for line in lines)
        assert paid == len(sent)


def _timeless(summary: dict[str, Any]) -> dict[str, Any]:
    """Return a summary without the seconds of real time and the requests sent in vain."""
    used = {
        role: {n: v for n, v in of_role.items() if n != "seconds" and not n.endswith("calls")}
        for role, of_role in summary["usage"].items()
    }
    return summary | {"usage": used}


def test_a_killed_command_goes_on_with_its_series(tmp_path: Path) -> None:
    """Killed in each episode; the same command pays for at most one reply more a kill."""
    kills = (2, 5, 9)
    process: list[subprocess.Popen[str]] = []
    done: set[int] = set()

    def script(number: int, body: dict[str, Any]) -> Served:
        if number in kills and number not in done:
            done.add(number)
            process[-1].send_signal(signal.SIGKILL)
        return replies(number, body)

    with serving(script) as stub:
        spec = f"llm,model=stub,base_url={stub.url},method=dynamic_cheatsheet"
        command = ["run", "beer_game", "--set", "horizon=2", "--policy", spec, "--episodes", "3"]
        codes = []
        while len(codes) <= len(kills):
            process.append(
                desim_process(
                    *command, "--record", "series", cwd=tmp_path, env={"PYTHONPATH": PYTHONPATH}
                )
            )
            out, _ = process[-1].communicate(timeout=120)
            codes.append(process[-1].returncode)
        sent = len(stub.requests)
    assert codes == [-signal.SIGKILL] * len(kills) + [0]
    assert out.splitlines()[-1].startswith("3 episodes: mean score")
    files = [tmp_path / "series" / f"episode-00{n}.jsonl" for n in (1, 2, 3)]
    counted = [Episode.read(file).summary()["usage"]["retailer"] for file in files]
    assert sum(each["replies"] for each in counted) == sent - len(kills)
