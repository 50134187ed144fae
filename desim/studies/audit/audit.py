"""`audit` plays plans that use no knowledge of a world against its honest rules."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import inf
from pathlib import Path
from random import Random
from typing import Any

from attrs import evolve

from desim import catalog
from desim.catalog.policy_spec import read_policies
from desim.core.model_protocols import Model, default_roles, is_deterministic
from desim.core.policy_protocols import sees_more_than_rules
from desim.episodes.driver import play
from desim.episodes.lineup import assign, lineup_knows
from desim.errors import DesimError, UsageError
from desim.jobs.plan.grid import disjoint_seeds, grid
from desim.jobs.plan.job import RECORDS, Variant
from desim.jobs.plan.parameter_sets import variants
from desim.jobs.rows.known_means import KnownMeans, known_scores
from desim.jobs.run.playing import opened_executor, opened_store
from desim.schema import to_plain
from desim.schema.signatures import takes
from desim.short_repr import short_repr
from desim.show.progress import shown_progress
from desim.studies.audit.audited import Audited, AuditLine
from desim.studies.audit.candidates import Material
from desim.studies.audit.exploits import listed_exploits
from desim.studies.audit.plan_search import (
    SEARCHED,
    LineupScores,
    PlanSearch,
    PlayedScores,
    SeatedPlan,
)
from desim.studies.study_options import AuditOptions

#: Plans of the report, and honest rules that play held-out seeds.
_SHOWN, _RIVALS = 5, 3

#: The fewest held-out seeds that give an interval.
_LEAST = 2


@takes(AuditOptions)
def audit(options: AuditOptions) -> Audited:
    """Play degenerate plans and those of a search against the honest rules of a preset.

    A plan holds rules of constants, observed values and counts (`desim.studies.audit.schedule`);
    it is made from the schema of a role and from what it observes in one episode. The other roles
    are played by the honest rule with the highest mean on the training seeds. The plan with the
    highest mean there is the only one that is compared on held-out seeds, so its interval needs no
    correction for the number of plans. It is compared with the honest rule that is best on these
    seeds, of the three that were best on the training seeds. Where every seed has the same episode,
    only degenerate plans are compared, as a search may learn that episode by heart.

    Raises:
        UsageError: A name does not exist, seeds or limits are wrong, no honest rule is known, or
            *out* holds something else.
        DesimError: No honest rule has a score.
        KeyboardInterrupt: On Ctrl-C; its text says how the audit goes on.
    """
    seeds, held_out = disjoint_seeds(options.seeds, options.held_out)
    variant = variants([options.model], options.preset, {})[0]
    model = variant.model
    fixed = is_deterministic(model)
    _check_size(options, 1 if fixed else _LEAST, len(held_out))
    listed = listed_exploits(model).get(variant.preset, ())
    honest = {spec: assign(model, read_policies([spec])) for spec in _honest(options, model)}
    grid_of = partial(_grid, model, options)
    with (
        opened_store(options.out) as store,
        opened_executor(options.executor, options.jobs, len(held_out)) as players,
        shown_progress(options.progress) as show,
    ):
        lineups = LineupScores(grid_of, players, store)
        near = _best(lineups, honest, seeds)
        others = honest[next(iter(near))]
        search = PlanSearch(
            lineups,
            others,
            _materials(model, others, seeds[0]),
            seeds[:1] if fixed else seeds,
            options.episodes,
            60 * options.minutes,
            Random(options.search_seed),  # noqa: S311 (no secret)
            show,
        )
        try:
            search.run()
            rules = {spec: honest[spec] for spec in near}
            found = _report(search, variant, rules, held_out, options.out, fixed=fixed)
        except KeyboardInterrupt:
            goes_on = "the same command goes on"
            way = goes_on if options.out is not None else f"with --out FOLDER {goes_on}"
            raise KeyboardInterrupt(f"stopped; {way}") from None
        return evolve(found, listed=tuple(one.name for one in listed))


def _check_size(options: AuditOptions, least: int, held_out: int) -> None:
    """Raise an error for an audit that can find nothing.

    Raises:
        UsageError: No episode may be played, or there are too few held-out seeds.
    """
    if options.episodes < 1:
        raise UsageError(f"episodes={options.episodes} was given; an audit plays at least 1")
    if not options.minutes > 0:
        raise UsageError(f"minutes={options.minutes:g} was given; it is above 0")
    if held_out < least:
        raise UsageError(f"{held_out} held-out seed was given; an interval takes at least {least}")


def _grid(
    model: Model[Any], options: AuditOptions, lineups: Sequence[Any], seeds: Sequence[int]
) -> Any:
    return grid(model, list(lineups), seeds, "", None, options.limits)


def _honest(options: AuditOptions, model: Model[Any]) -> list[str]:
    """Return the specs of the honest rules: those given, or the baselines that see no hidden facts.

    Raises:
        UsageError: One that is given sees hidden facts, or none is known.
    """
    for spec in options.honest:
        if _sees_hidden_facts(spec, model):
            raise UsageError(
                f"honest rule {short_repr(spec)} was given, which knows more than 'observation' "
                "and 'rules'; name another one"
            )
    given = options.honest or catalog.baselines(model)
    found = [spec for spec in given if not _sees_hidden_facts(spec, model)]
    if not found:
        raise UsageError("no honest rule is known: name one (--honest), or give the roles options")
    return found


def _sees_hidden_facts(spec: str, model: Model[Any]) -> bool:
    """Return whether a policy of a line-up knows hidden state or the future."""
    return sees_more_than_rules(lineup_knows(model, read_policies([spec])))


def _best(
    lineups: LineupScores, honest: Mapping[str, Any], seeds: Sequence[int]
) -> dict[str, PlayedScores]:
    """Return the scores of the honest rules with the highest means, the best one first.

    Raises:
        DesimError: None has a score on every seed.
    """
    played = lineups.of(list(honest.values()), seeds)
    found = sorted(zip(honest, played, strict=True), key=lambda pair: -pair[1].mean)
    if found[0][1].mean == -inf:
        raise DesimError(f"every honest rule failed: {found[0][1].error}")
    return dict(found[:_RIVALS])


def _materials(model: Model[Any], others: Mapping[str, Any], seed: int) -> dict[str, Material]:
    """Return what plans of the default roles are made of: what they observe in an episode."""
    steps = play(model, others, seed=seed).steps
    return {
        role: Material.of(
            model.roles[role], [to_plain(step.observation) for step in steps if step.role == role]
        )
        for role in default_roles(model)
    }


def _report(
    search: PlanSearch,
    variant: Variant,
    honest: Mapping[str, Any],
    held_out: tuple[int, ...],
    out: str | Path | None,
    *,
    fixed: bool,
) -> Audited:
    """Play the best plan and the honest rules on held-out seeds."""
    ranked = search.best()
    if fixed:
        held_out = held_out[:1]
    rule, scores = next(iter(_best(search.lineups, honest, held_out).items()))
    # With one episode for search and report, a plan may hold its answers by heart.
    tested = [one for one in ranked if not fixed or one.name != SEARCHED][:1]
    first = search.lineups.of([search.lineup(one) for one in tested], held_out)
    complete = bool(first) and first[0].mean > -inf
    return Audited(
        name=f"{variant.name}/{variant.preset}",
        honest=rule,
        honest_scores=_numbers(scores.scores),
        lines=tuple(_audit_line(one, search) for one in dict.fromkeys([*tested, *ranked[:_SHOWN]])),
        scores=_numbers(first[0].scores) if complete else (),
        seeds=held_out,
        training_seeds=len(search.seeds),
        fixed=fixed,
        best_known=_best_known(variant, search.others, held_out),
        plans=len(search.tried),
        episodes=search.episodes,
        failed=(len(search.failed), next(iter(search.failed.values()), "")),
        listed=(),
        record=_recorded(search, tested[0], held_out[:1], Path(out)) if out and complete else "",
    )


def _numbers(scores: Iterable[float | None]) -> tuple[float, ...]:
    return tuple(score for score in scores if score is not None)


def _audit_line(one: SeatedPlan, search: PlanSearch) -> AuditLine:
    return AuditLine(one.name, one.role, one.text, search.found[one].mean)


def _best_known(
    variant: Variant, others: Mapping[str, Any], seeds: Sequence[int]
) -> tuple[float, str] | None:
    """Return the mean of the best known scores and their policies; None where none are known."""
    known = None
    with suppress(UsageError):  # damaged data, or those of other parameters
        known = known_scores(variant.model, variant.preset)
    scores = known.all_of(seeds) if known and tuple(sorted(others)) in known.roles else None
    if not known or not scores:
        return None
    means = KnownMeans(known, tuple(scores))
    return means.best, means.policies


def _recorded(search: PlanSearch, one: SeatedPlan, seeds: Sequence[int], out: Path) -> str:
    """Record an episode of a plan in the folder; return the file."""
    folder = out.absolute()
    (folder / RECORDS).mkdir(exist_ok=True)
    lineups = search.lineups
    plan = evolve(lineups.grid_of([search.lineup(one)], seeds), out=folder)
    lineups.play(plan)
    return str(plan.job(0).record)
