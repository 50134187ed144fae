"""`regret`: the decisions of a record that cost most, compared with alternative actions."""

import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from desim.core.limits import Limits
from desim.episodes.futures.past import Past
from desim.episodes.futures.what_if import fresh_roles, players, players_of_all
from desim.episodes.lineup import Policies
from desim.errors import UsageError
from desim.jobs.plan.players import players as parts_of
from desim.jobs.run.executors import WorkerDied
from desim.jobs.run.files_read import modules_of
from desim.jobs.run.playing import check_jobs, opened_store
from desim.opened_files import noting, opened_by
from desim.records.episode import Episode
from desim.short_repr import short_repr
from desim.statistics.intervals import checked_level
from desim.studies.decisions.branch_table import (
    check_futures_count,
    fresh_note,
    labels,
)
from desim.studies.decisions.judge import Judge
from desim.studies.decisions.judging import Judging
from desim.studies.decisions.questions import chosen, of_options, of_policies
from desim.studies.decisions.regret_table import RegretTable

#: The name of the comparison with all options of a role.
OPTIONS = "options"


class RegretStopped(KeyboardInterrupt):
    """Ctrl-C; the text says how to go on.

    Attributes:
        found: The table of the decisions that were judged; None if no decision was.
    """

    def __init__(self, text: str, found: RegretTable | None) -> None:
        super().__init__(text)
        self.found = found


def regret(
    record: str | Path | Episode,
    then: Policies = None,
    *,
    against: Policies = OPTIONS,
    role: str = "",
    decisions: slice | None = None,
    kinds: Collection[str] = (),
    futures: int | None = 30,
    most_options: int = 12,
    level: float = 0.95,
    jobs: int = 1,
    out: str | Path | None = None,
    restart: bool = False,
    trust: bool = False,
    model: str = "",
    params: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RegretTable:
    """Estimate for each recorded decision how much better another action would have been.

    For each decision the recorded action and other actions are played: the decisions before it are
    repeated, those open together with it keep their recorded answers, and *then* plays on after
    every action alike, over the same futures. Policies of the record are neither built nor called.

    The best other action is chosen on the first half of the futures and compared with the recorded
    one on the second: the largest of several means is biased upwards on the futures that chose it,
    so that noise would count as a mistake.

    Args:
        record: A record, whole or cut, or an episode.
        then: The policies of all roles, which play on after the action.
        against: "options" for all that `Role.options` offers, or a policy, or policies by role.
        role: The role whose decisions are judged; empty for all that *against* can judge.
        decisions: The decisions by their numbers from 0; None for all.
        kinds: Names of the recorded actions that are judged, such as `task_accept` of
            `{"do": "task_accept"}`; empty for all.
        futures: The number of futures drawn, with the seeds 0, 1, ...; None takes the true one
            alone, which is hindsight.
        most_options: The most options played of a decision, at least 1; if it has more, the one of
            the highest value and a random sample of the others are played.
        level: The joint level of all intervals, above 0 and below 1.
        jobs: Worker processes; the result is the same for any number.
        out: A folder that keeps every decision that was judged. The same call goes on where it was
            stopped, and one with another *role*, other *decisions* or *kinds* judges only what is
            new. What other arguments or another record have given is kept beside it; decisions
            that were judged with other code or files are refused.
        restart: Judge these decisions again.
        trust: See `Past.read`.
        model: See `Past.read`.
        params: See `Past.read`.
        limits: See `Past.read`.
        progress: Called with the numbers of finished and of all episodes.

    Raises:
        BadRecord: The record cannot be read or does not replay.
        UsageError: The role or a decision does not exist, the role offers no options, a policy is
            missing or cannot play branches, or *out* holds decisions of other code or is in use.
        PolicyFailed: A policy failed.
        WorkerDied: A worker process ended.
        RegretStopped: Ctrl-C.

    Warns:
        SweepWarning: Rows in *out* were damaged or discarded.
    """
    check_futures_count(futures)
    checked_level(level)
    check_jobs(jobs)
    if type(most_options) is not int or most_options < 1:
        raise UsageError(f"{short_repr(most_options)} options were given; at least 1 is played")
    start = time.perf_counter()
    with noting():  # for a model that reads a file once for all episodes
        past = Past.read(record, trust=trust, model=model, params=params, limits=limits)
    seconds = time.perf_counter() - start
    redrawn = futures is not None
    base = players_of_all(past, then, redrawn=redrawn)
    numbers = chosen(past, role, decisions, kinds)
    others: dict[str, Any] = {}
    if against == OPTIONS:
        questions = [of_options(past, at, most_options) for at in numbers]
    else:
        others = players(past, against, redrawn=redrawn)
        _check_judges(others, role)
        with noting():
            questions = of_policies(past, numbers, others, base)
    name = labels(others) if others else OPTIONS
    fresh = fresh_roles(past, base)
    seeds = (None,) if futures is None else tuple(range(futures))
    judging = Judging(
        past,
        questions,
        Judge(past.bare(), base, fresh, seeds),
        others,
        [*opened_by(modules_of(parts_of(past.model, others)))] if others else [],
        most_options,
        trust or bool(params),
        level,
        then=labels(base),
        against=name,
        notes=tuple(fresh_note(base, fresh)),
    )
    with opened_store(out, restart=restart) as store:
        kept = store.of(judging)
        try:
            judging.play(kept, jobs, seconds, progress or (lambda _done, _total: None))
        except KeyboardInterrupt:
            text = judging.stopped_text(kept, resumable=out is not None)
            raise RegretStopped(text, judging.so_far(kept)) from None
        except WorkerDied as fault:
            text = judging.stopped_text(kept, resumable=out is not None)
            raise WorkerDied(f"{fault}; {text}") from None
        return judging.table(kept)


def _check_judges(others: Mapping[str, Any], role: str) -> None:
    if role and role not in others:
        raise UsageError(f"--against names no policy for {role!r}; it names {', '.join(others)}")
