"""Parameters of the console and of the founder's turns (SPEC 13 and 14)."""

from attrs import field, frozen
from attrs.validators import ge, instance_of, le

from desim.schema.validators import whole
from models.yc_bench.rules.checks import COUNT, SWITCH


@frozen(kw_only=True, slots=False)
class ConsoleRules:
    """Contents of the console's replies, and the counting of turns.

    Attributes:
        company_name: Name of the company.
        desk_titles: Planned tasks that an observation lists at most, those created last; the
            command `task list` shows all.
        tasks_by_identifier: Whether replies name tasks by identifiers, which are unique as the
            published bot runner's objects are, and not by titles, which may repeat.
        market_browse_default_limit: Rows of the market shown where no limit is given.
        browse_shows_one_row: Whether a limit of 0 or less still shows one row.
        browse_total_is_page: Whether `total` counts the rows shown and not the matches.
        resume_reports_new_time: Whether a resume reports the new time as the old one.
        auto_advance_after_turns: Turns without a resume after which the clock is moved on.
        forced_advance: Whether the clock is then moved on even if no task is active.
        idle_limit: Turns without time passing and without an active task, after which the founder
            is idle; 0 for no limit, with which the published loop never ends.
        idle_year_passes: Whether the year then passes without an idle founder, salaries being paid,
            and the score is what is left; otherwise the episode ends at once as "idle" with all its
            money, which pays more than most years of work.
        max_turns: Turns of an episode after which the run ends; 0 for no limit. The published loop
            reports such a run as an error: its funds are not those of a whole year.
        episodes: Episodes of a run, 1 to 1,000: as long as there are any left, a bankruptcy opens
            the same seed again with a new conversation and the scratchpad kept (SPEC 15).
        errors_count_as_resume: Whether a refused resume counts as one.
        status_number_lags: Whether the status after a resume has the number of the turn before.
        stale_scratchpad: Whether the scratchpad shown is that of the last turn that did not follow
            a resume.
    """

    company_name: str = field(default="BenchCo", validator=instance_of(str))
    desk_titles: int = field(default=50, validator=COUNT)
    tasks_by_identifier: bool = field(default=False, validator=SWITCH)
    market_browse_default_limit: int = field(default=50, validator=[whole, ge(1)])
    browse_shows_one_row: bool = field(default=True, validator=SWITCH)
    browse_total_is_page: bool = field(default=True, validator=SWITCH)
    resume_reports_new_time: bool = field(default=True, validator=SWITCH)
    auto_advance_after_turns: int = field(default=5, validator=COUNT)
    forced_advance: bool = field(default=False, validator=SWITCH)
    idle_limit: int = field(default=1_000, validator=[whole, ge(0)])
    idle_year_passes: bool = field(default=True, validator=SWITCH)
    max_turns: int = field(default=0, validator=[whole, ge(0)])
    episodes: int = field(default=1, validator=[whole, ge(1), le(1000)])
    errors_count_as_resume: bool = field(default=True, validator=SWITCH)
    status_number_lags: bool = field(default=True, validator=SWITCH)
    stale_scratchpad: bool = field(default=True, validator=SWITCH)
