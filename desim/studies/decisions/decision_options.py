"""The arguments of `regret` and `compare_branches`.

The text of each field is also the help of its option on the command line.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from attrs import field, frozen

from desim.core.limits import Limits
from desim.engine.run.job_options import JobOptions
from desim.episodes.episode_options import TrustOptions
from desim.episodes.lineup import Policies
from desim.records.episode import Episode
from desim.show.progress import ProgressOption

#: The name of the comparison with all options of a role.
OPTIONS = "options"


@frozen(kw_only=True, slots=False)
class RegretOptions(JobOptions, TrustOptions):
    """The arguments of `regret`.

    Attributes:
        record: A record, whole or cut; in Python also an episode.
        then: The policy that plays on after each decision; one for every role, or by role.
        against: With what the decisions are compared: "options" (default) for all options of the
            role, or a policy, or policies by role.
        role: The role whose decisions are judged; by default all that *against* can judge.
        decisions: Decisions A to B without B, counted from 1 as by `desim branch --at`; every K-th.
            In Python a slice; None for all.
        kinds: Judge only decisions whose recorded action has this name, such as task_accept.
        futures: How many futures are drawn for each decision, with the seeds 0, 1, ... In Python
            None takes the true one alone, which is hindsight.
        most_options: Options of one decision that are played, at least 1; of more, the one of the
            highest value and a random sample of the others.
        level: The joint level of all intervals, above 0 and below 1.
        restart: Discard the decisions in *out* and start anew.
    """

    record: str | Path | Episode = field(kw_only=False)
    then: Policies = field(default=None, kw_only=False)
    against: Policies = OPTIONS
    role: str = ""
    decisions: slice | None = None
    kinds: Collection[str] = ()
    futures: int | None = 30
    most_options: int = 12
    level: float = 0.95
    restart: bool = False


@frozen(kw_only=True, slots=False)
class BranchComparisonOptions(TrustOptions):
    """The arguments of `compare_branches`.

    Attributes:
        record: A record, whole or cut, or an episode.
        at: The decision that is changed, counted from 1; those before it are repeated.
        action: Compare: the other answer to decision N, such as {"do": "order", "quantity": 12}. In
            Python an instance, or its tagged object, also as JSON text.
        policy: Instead of an action: the policy that decides otherwise.
        then: Compare: the policy that plays on after the recorded answer and after the other one.
            Without it, the rest of the record stands for the recorded continuation; this needs the
            true future and *from_here*.
        futures: Compare: over how many redrawn futures, with the seeds 0, 1, ...; without it in the
            true one, which is hindsight.
        from_here: Compare: *policy* makes all decisions of its roles from N on, and not decision N
            alone.
        level: The level of the intervals, above 0 and below 1.
        limits: The limits of each episode.
        progress: As for `sweep`.
    """

    record: str | Path | Episode = field(kw_only=False)
    at: int = field(kw_only=False)
    action: Any = None
    policy: Policies = None
    then: Policies = None
    futures: int | None = None
    from_here: bool = False
    level: float = 0.95
    limits: Limits | None = None
    progress: ProgressOption = None
