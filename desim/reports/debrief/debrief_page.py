"""A debrief: two printed pages about the games of one or several teams, and the rest after them.

The first page is about one team: its orders and stocks, amplification, costs. The second page ranks
the teams, states what no seat could know, and asks questions.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import evolve

from desim.core.model_protocols import offers
from desim.core.reported import HasBriefing
from desim.records.record_file import record_stem
from desim.reports.debrief.team_tables import amplification, amplification_note, costs, ranking
from desim.reports.debrief.teams import Team, read_teams
from desim.reports.elements.html import check_target, rendered
from desim.reports.elements.page import (
    Given,
    Page,
    Section,
    SideBySide,
    check_installed,
    clean,
)
from desim.reports.record.overlay_chart import overlay_figure
from desim.reports.record.overlays import OverlaidSeries, overlaid
from desim.reports.record.record_page import grouped_sections, world_title
from desim.reports.record.record_read import policies_text
from desim.show.files import write_whole
from desim.show.labels import inner_label, number_text, words_text

#: Inches: the height of a chart of the first page, without and with a table below, and of the
#: chart of the second page; two charts fit on the first page.
_TALL, _LOW, _REVEALED = 3.4, 2.6, 2.0

_CHARTS = 2

#: Questions of a world that are shown, and characters of the policies above the first page.
_QUESTIONS, _POLICIES = 4, 100

#: Characters of a sentence on a record that could not be played.
_NOTE = 300


def write_debrief(
    paths: Sequence[str | Path],
    out: str | Path | None = None,
    *,
    full: bool = False,
    force: bool = False,
    trust: bool = False,
) -> Path:
    """Write a debrief as one HTML file that opens offline and prints on two A4 pages.

    Args:
        paths: A record for each team, all of one world; the first team is shown in detail.
        out: The file; None is NAME-debrief.html beside the first record.
        full: Whether the sections of a report about the records follow the two pages.
        force: Whether a file other than a report may be replaced.
        trust: Whether a module and files that a record names may be imported and opened to play it
            again.

    Returns:
        The file.

    Raises:
        UsageError: No record or too many are given, one is given twice, they are of different
            worlds, matplotlib or jinja2 is not installed, or the file cannot be written.
        BadRecord: A record cannot be read.
    """
    check_installed("a debrief needs", "jinja2", "matplotlib")
    given = [Path(path) for path in paths]
    teams = read_teams(given, trust=trust)
    target = Path(out) if out else given[0].with_name(f"{record_stem(given[0])}-debrief.html")
    check_target(target, force=force)
    write_whole(target, [rendered(debrief_page(teams, full=full))])
    return target


def debrief_page(teams: Sequence[Team], *, full: bool = False) -> Page:
    """Return the debrief; at least one team."""
    first = teams[0]
    sections = [
        Section.of(f"What happened: {first.title}", _happened(first), is_sheet=True),
        Section.of("What to learn", _learned(teams), is_sheet=True),
    ]
    if full:
        sections += grouped_sections([team.record for team in teams])
    return Page.of(f"Debrief: {_world(first)}", _lead(teams), sections)


def _world(team: Team) -> str:
    """Return the title of the world in words."""
    model = team.record.replayed.model
    first_role = next(iter(model.roles), "") if model is not None else ""
    if first_role and offers(model, HasBriefing):
        return model.briefing_for(first_role).title
    return words_text(team.record.episode.header.model.rpartition(":")[2])


def _lead(teams: Sequence[Team]) -> Iterator[str]:
    first = teams[0].record
    policies = clean(policies_text(first.episode.header.policies), _POLICIES)
    played = f"{world_title(first.episode.header)}; {policies}"
    if len(teams) == 1:
        yield f"{played}. Score {number_text(first.score)}." if first.score else f"{played}."
        return
    yield (
        f"{len(teams)} teams; the first page is about the first one, {teams[0].title}. {played}. "
        "A higher score is better."
    )


def _happened(team: Team) -> Iterator[Given]:
    """Yield the first page: charts on one scale, amplification, costs."""
    if not team.is_whole:
        yield f"This record is not whole: {clean(team.record.ended, _POLICIES)}."
    yield from (clean(note, _NOTE) for note in team.record.replayed.notes)
    tables = [*_tables(team)]
    for chart in overlaid(team.record.replayed)[:_CHARTS]:
        yield overlay_figure(chart, _LOW if tables else _TALL)
    yield from tables
    if team.debriefing and team.debriefing.amplification:
        yield amplification_note(team)


def _tables(team: Team) -> Iterator[Given]:
    ratios, money = amplification(team), costs(team)
    if ratios and money:
        yield SideBySide(ratios, money)
    elif ratios or money:
        yield ratios or money  # type: ignore[misc] # one of the two is not None


def _learned(teams: Sequence[Team]) -> Iterator[Given]:
    """Yield the second page: ranks, what no seat could know, questions."""
    if len(teams) > 1:
        yield from ranking(teams)
    found = teams[0].debriefing
    if found and found.revealed:
        first = overlaid(teams[0].record.replayed)[:1]
        chart = OverlaidSeries.of(found.revealed, *first)
        yield overlay_figure(
            evolve(chart, title=f"Revealed: {inner_label(chart.title)}"), _REVEALED
        )
    for number, question in enumerate(found.questions[:_QUESTIONS] if found else (), 1):
        yield f"{number}. {question}"
