"""`regret`: the decisions of a record that cost most, compared with alternative actions."""

import time
from collections.abc import Mapping
from typing import Any

from desim.engine.keep.store import Store
from desim.engine.policies import PolicyEntry
from desim.engine.policies import players as parts_of
from desim.engine.run.executors import WorkerDied
from desim.engine.run.files_read import modules_of
from desim.engine.run.playing import check_jobs
from desim.episodes.counterfactual import Past, fresh_roles, players, players_of_all
from desim.errors import UsageError
from desim.opened_files import noting, opened_by
from desim.schema.signatures import takes
from desim.short_repr import short_repr
from desim.show.progress import shown_progress
from desim.statistics.intervals import checked_level
from desim.studies.decisions.branch_table import (
    check_futures_count,
    fresh_note,
    labels,
)
from desim.studies.decisions.decision_options import OPTIONS, RegretOptions
from desim.studies.decisions.judge import Judge
from desim.studies.decisions.judging import Judging
from desim.studies.decisions.questions import chosen, of_options, of_policies
from desim.studies.decisions.regret_table import RegretTable


class RegretStopped(KeyboardInterrupt):
    """Ctrl-C; the text says how to go on.

    Attributes:
        found: The table of the decisions that were judged; None if no decision was.
    """

    def __init__(self, text: str, found: RegretTable | None) -> None:
        super().__init__(text)
        self.found = found


@takes(RegretOptions)
def regret(options: RegretOptions) -> RegretTable:
    """Estimate for each recorded decision how much better another action would have been.

    For each decision the recorded action and other actions are played: the decisions before it are
    repeated, those open together with it keep their recorded answers, and *then* plays on after
    every action alike, over the same futures. Policies of the record are neither built nor called.

    The best other action is chosen on the first half of the futures and compared with the recorded
    one on the second: the largest of several means is biased upwards on the futures that chose it,
    so that noise would count as a mistake.

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
    futures, most_options = options.futures, options.most_options
    check_futures_count(futures)
    checked_level(options.level)
    check_jobs(options.jobs)
    if type(most_options) is not int or most_options < 1:
        raise UsageError(f"{short_repr(most_options)} options were given; at least 1 is played")
    start = time.perf_counter()
    with noting():  # for a model that reads a file once for all episodes
        past = Past.read(options.record, options, options.limits)
    seconds = time.perf_counter() - start
    redrawn = futures is not None
    base = players_of_all(past, options.then, redrawn=redrawn)
    numbers = chosen(past, options.role, options.decisions, options.kinds)
    others: dict[str, Any] = {}
    if options.against == OPTIONS:
        questions = [of_options(past, at, options.most_options) for at in numbers]
    else:
        others = players(past, options.against, redrawn=redrawn)
        _check_judges(others, options.role)
        with noting():
            questions = of_policies(past, numbers, others, base)
    name = labels(others) if others else OPTIONS
    fresh = fresh_roles(past, base)
    seeds = (None,) if futures is None else tuple(range(futures))
    judging = Judging(
        model=past.model,
        entry=PolicyEntry(labels(base), base),
        limits=past.limits,
        past=past,
        questions=questions,
        judge=Judge(past.bare(), base, fresh, seeds),
        others=others,
        files=[*opened_by(modules_of(parts_of(past.model, others)))] if others else [],
        most_options=most_options,
        texts=options.trust or bool(options.params),
        level=options.level,
        against=name,
        notes=tuple(fresh_note(base, fresh)),
    )
    out = options.out
    with (
        Store(out, restart=options.restart) as store,
        shown_progress(options.progress) as show,
    ):
        kept = store.of(judging.plan)
        try:
            judging.play(kept, options.jobs, seconds, show)
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
