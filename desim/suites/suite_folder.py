"""The folder of a suite, and the outcomes in it, which are read as data.

suite.toml       a copy of the suite's file
sweep.sqlite     results of all jobs, and what determines them (`desim.engine.store`)
records/         a record an episode; of episodes in a row a folder a job
earlier/         records that were set aside, until their jobs have been played again
rows.csv         a row an episode
table.csv        the table of results
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from desim.core.roles import Knowledge
from desim.engine.plan import RECORDS
from desim.engine.store import FILE_NAME, Store
from desim.episodes.series import episode_file
from desim.episodes.usage import is_played, usage_in_all
from desim.errors import BadRecord, UsageError
from desim.studies.options import SUITE
from desim.suites.suite_plan import JobKey, Plan, plan_to_print

#: The beginning of the error of an episode that a limit has stopped.
_LIMIT = "LimitReached: "


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of an episode; what is not listed is as in all rows of sweeps.

    Attributes:
        episode: Its place in a row, from 1.
        training: Whether its policies only learned from it, so that it is not scored.
        score: The score; None if the episode has not ended.
        usage: Sums over all roles of what policies noted: calls, tokens, cost, seconds.
        limit: The limit of the episode that was reached, or one shared with others; empty for none.
        seconds: Wall time of the command that ended it.
        unplayed: The roles whose language models mostly took the default action.
    """

    episode: int = 1
    training: bool = False
    score: float | None = None
    ended: str | None = None
    decisions: int | None = None
    metrics: dict[str, Any] = {}
    ledger_digest: str | None = None
    usage: dict[str, float] = {}
    limit: str = ""
    error: str | None = None
    seconds: float = 0.0
    knows: Knowledge = "observation"
    unplayed: tuple[str, ...] = ()
    cluster: str = ""
    record: str | None = None

    @property
    def state(self) -> str:
        """The outcome: failed, cut (by a limit), training, not played or done; the last counts.

        Not played: the language model of a role mostly took the default action (`MOST_DEFAULTS`).
        """
        if self.error:
            return "failed"
        if self.limit:
            return "cut"
        if self.training:
            return "training"
        return "not played" if self.unplayed or not is_played(self.usage) else "done"

    def figure(self, name: str) -> Any:
        """Return a figure by its name, or None; see `SuiteColumn.figure`."""
        usage = self.usage
        if name == "tokens" or name.endswith(" tokens"):  # of a phase
            phase = name.removesuffix("tokens").replace(" ", "_")
            read, written = (
                usage.get(f"{phase}{kind}_tokens") for kind in ("prompt", "completion")
            )
            return None if read is None or written is None else read + written
        figures = {
            "score": self.score,
            "ended": self.ended,
            "decisions": self.decisions,
            "cost": usage.get("cost"),
            # Seconds waited for replies, which a kill does not shorten; without any, wall time.
            "minutes": (usage.get("seconds") or self.seconds) / 60,
            "reasoning": usage.get("reasoning_tokens"),
        }
        if name.startswith("usage."):
            return usage.get(name.removeprefix("usage."))
        return figures[name] if name in figures else self.metrics.get(name)


#: The outcomes of a suite by job, in the order of its plan: those of the job's episodes, of which
#: the last may be the one that failed or was cut.
Outcomes = Mapping[JobKey, tuple[Played, ...]]


class _Row(Played, frozen=True, kw_only=True):
    """A row of the store: a job with the results of one episode, or of several in a row."""

    seed: int
    of_world: str
    of_purse: str
    of_repeat: int
    of_training: int
    episodes: tuple[Played, ...] | None = None


_decode = msgspec.json.Decoder(_Row).decode


def outcomes_of(plan: Plan, rows: Iterable[bytes]) -> dict[JobKey, tuple[Played, ...]]:
    """Return the outcomes of a plan's jobs in the rows of a store."""
    try:
        read = [_decode(row) for row in rows]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise BadRecord(f"a row of {FILE_NAME} is not as a suite wrote it: {fault}") from None
    found = {JobKey(r.of_world, r.of_purse, r.seed, r.of_repeat): tuple(_each(r)) for r in read}
    return {job: found[job] for job in plan.jobs if job in found}


def _each(row: _Row) -> Iterator[Played]:
    """Yield the outcomes of a job's episodes; none if a limit was reached before its first call."""
    replace = msgspec.structs.replace
    ended = row.episodes or ()
    for number, one in enumerate(ended, 1):
        yield replace(one, episode=number, training=number <= row.of_training)
    error = row.error or ""
    limit = error.removeprefix(_LIMIT) if error.startswith(_LIMIT) else ""
    is_whole = row.episodes is not None and not error
    if not (is_whole or (limit and row.record is None)):
        number = len(ended) + 1
        what = {"limit": limit, "error": None} if limit else {}
        yield replace(row, episode=number, training=number <= row.of_training, **what)


def holds_suite(folder: Path) -> bool:
    """Return whether a suite was played into a folder."""
    return all((folder / name).exists() for name in (SUITE, FILE_NAME))


def read_folder(folder: Path) -> tuple[Plan, Outcomes]:
    """Return the plan of the suite in a folder, without cells, and its outcomes.

    Nothing that the suite names is imported or opened, as it may be a stranger's.

    Raises:
        UsageError: The folder holds no suite, its copy has a fault, or the store cannot be read.
        BadRecord: A row is damaged.
    """
    if not holds_suite(folder):
        raise UsageError(f"{folder} holds no suite; desim bench SUITE.toml --out plays one into it")
    plan = plan_to_print(folder / SUITE)
    return plan, outcomes_in(folder, plan)


def outcomes_in(folder: Path, plan: Plan) -> Outcomes:
    """Return the outcomes in a folder of a plan's jobs; none before the first command has begun."""
    if not (folder / FILE_NAME).exists():
        return {}
    with Store(folder, read=True) as store:
        return outcomes_of(plan, store.rows())


def ended_episodes(played: Iterable[Played]) -> int:
    """Return how many episodes have ended."""
    return sum(one.score is not None for one in played)


def used(outcomes: Outcomes) -> dict[str, float]:
    """Return the sums of usage over all episodes, those that failed or were cut included."""
    return usage_in_all(one.usage for each in outcomes.values() for one in each)


def record_in(folder: Path, played: Played) -> Path:
    """Return the record of an episode in the folder of its suite."""
    # The name alone, as a stranger's row may name any file.
    record = folder / RECORDS / Path(played.record or "none").name
    return record if record.suffix == ".jsonl" else episode_file(record, played.episode)
