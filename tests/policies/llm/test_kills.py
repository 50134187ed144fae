"""Runs killed at random moments and resumed: at most one request a kill is sent twice."""

import contextlib
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from attrs import define, evolve, field
from support.stub import Stub, serving, text

from desim import Episode, catalog, play, replay

pytestmark = pytest.mark.slow

#: Processes that the test kills; `DESIM_KILLS` raises it.
KILLS = int(os.environ.get("DESIM_KILLS", "8"))

#: Weeks of a game, which are the requests of a run that is not killed; and seconds for each.
WEEKS, PACE = 40, 0.05

#: Seconds after its first request in which a process is killed.
MOMENTS = (0.0, 1.5)


@define
class Killing:
    """Plays one game after another, and kills the process again and again.

    Attributes:
        stub: The server, which counts the requests.
        folder: Where the records are.
        chance: Draws the moments.
        kills: Processes killed so far.
        beyond: For each game its kills, and its requests beyond the ideal.
    """

    stub: Stub
    folder: Path
    chance: random.Random
    kills: int = 0
    beyond: list[tuple[int, int]] = field(factory=list)

    def game(self, most: int) -> Episode:
        """Play one game to its end, with a largest number of kills."""
        file = self.folder / f"game{len(self.beyond)}.jsonl"
        before, sent = self.kills, len(self.stub.requests)
        while not self._played(file, kill=self.kills - before < most):
            pass
        extra = len(self.stub.requests) - sent - WEEKS
        self.beyond.append((self.kills - before, extra))
        return Episode.read(file)

    def _played(self, file: Path, *, kill: bool) -> bool:
        """Start or resume a game; return whether it came to its end."""
        spec = f"llm,model=m,base_url={self.stub.url}"
        run = ["run", "beer_game", "--set", f"horizon={WEEKS}", "--policy", spec, "--record"]
        # A process that was killed before it wrote the first line has sent nothing.
        started = file.exists() and b"\n" in file.read_bytes()
        if not started:
            file.unlink(missing_ok=True)
        command = [
            sys.executable,
            "-m",
            "desim",
            *(["resume", "--trust"] if started else run),
            str(file),
        ]
        sent = len(self.stub.requests)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        while kill and process.poll() is None and len(self.stub.requests) == sent:
            time.sleep(0.01)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(self.chance.uniform(*MOMENTS) if kill else 120) == 0
        process.kill()
        process.wait()
        self.kills += 1
        return False


def test_killed_runs_lose_at_most_one_request_a_kill(tmp_path: Path) -> None:
    """The game is the same as without a kill, and its record replays."""
    killing = attack(KILLS, tmp_path)
    kills, beyond = map(sum, zip(*killing.beyond, strict=True))
    games = len(killing.beyond)
    print(f"{kills} kills in {games} games: {beyond} of {games * WEEKS} requests sent twice")  # noqa: T201 (with -rP)


def attack(kills: int, folder: Path) -> Killing:
    """Kill that many runs and check every game."""
    with serving(evolve(text('{"order_qty": 120}'), slow=PACE)) as stub:
        model = catalog.model("beer_game", changes={"horizon": str(WEEKS)})
        whole = play(model, f"llm,model=m,base_url={stub.url}")
        del stub.requests[:]
        killing = Killing(stub, folder, random.Random(11))  # noqa: S311 (moments)
        while killing.kills < kills:
            episode = killing.game(min(8, kills - killing.kills))
            died, extra = killing.beyond[-1]
            assert 0 <= extra <= died
            assert (episode.score, episode.ledger_digest) == (whole.score, whole.ledger_digest)
            assert episode.result is not None
            usage = episode.result.usage["retailer"]
            assert usage["replies"] == WEEKS
            # A process may end between writing a request to the record and sending it.
            assert WEEKS + extra <= usage["calls"] <= WEEKS + died
            assert replay(folder / f"game{len(killing.beyond) - 1}.jsonl").score == whole.score
    return killing
