"""Hostile endpoints: a run ends in time, in little memory, with a sentence, and keeps its key."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.forked import Preloaded
from support.hostile import KEY, MODES, attacking, percent

from desim import Episode, replay

pytestmark = pytest.mark.slow

#: Seconds for a call; and for a run of two weeks, two calls a week, on a machine of any speed.
#: A run without limits would never end.
TIMEOUT, LONGEST = 3, 120

#: Peak memory of a run, in MiB; a run with a good endpoint has about 80.
MEMORY = 320

#: The address of a server without TLS, as if it had it.
TLS = "TLS to a plain port"


@pytest.fixture(scope="module")
def desim() -> Iterator[Preloaded]:
    """Return what runs commands."""
    with Preloaded() as preloaded:
        yield preloaded


@pytest.mark.parametrize("name", [*MODES, TLS])
def test_a_hostile_endpoint(name: str, tmp_path: Path, desim: Preloaded) -> None:
    """The run ends or fails as a run may, and what is left can be read."""
    file = tmp_path / "game.jsonl"
    with attacking(MODES["500" if name == TLS else name]) as (url, requests):
        base_url = url.replace("http:", "https:") if name == TLS else url
        mode = "tools" if "call" in name or "arguments" in name else "json"
        spec = f"llm,model=m,base_url={base_url},timeout={TIMEOUT},resends=1,retries=1,mode={mode}"
        command = ["run", "beer_game", "--set", "horizon=2", "--policy", spec]
        env = {"OPENAI_API_KEY": KEY}
        ended = desim.run([*command, "--record", str(file)], tmp_path, env, LONGEST)
        seconds = time.monotonic() - requests[0]
    report = (
        f"{name}: exit {ended.code}, {seconds:.1f} s, {ended.mib:.0f} MiB, {len(requests)} sent"
    )
    print(report, ended.err.strip()[:200])  # noqa: T201 (the table of attacks, with -rP)
    assert ended.mib < MEMORY, report
    assert len(requests) <= 4
    assert ended.code in (0, 1), report
    assert (ended.code == 1) == ended.err.startswith("desim: model 'm' at ")
    assert ended.err.count("\n") == 1
    assert "\x1b" not in ended.err
    for text in (ended.out, ended.err, file.read_text()):
        assert KEY not in text
        assert percent(KEY) not in text
    if ended.code == 0:
        assert replay(file).score is not None
    else:
        assert Episode.read(file, whole=False).result is None
