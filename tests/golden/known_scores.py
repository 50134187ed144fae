"""Writes `known_scores.json`: the best score that each world is known to allow, seed by seed.

Plays all baselines of presets, and the further policies of `MORE`; takes the floor, the best score
and its policy on each seed; computes an upper bound where the world has one; and writes
`known_scores.json` in the folders of the models. Presets that are not named stay as they are, and
so do better runs of which a record is kept and replays.
"""

import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from math import fsum
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import click
from attrs import evolve

from desim import Rows, __version__, catalog, sweep
from desim.catalog.known_scores import (
    FILE_NAME,
    KnownBound,
    KnownScore,
    KnownScores,
    fingerprint,
    known_scores_text,
    parsed_known_scores,
    with_preset,
)
from desim.core.model_protocols import is_deterministic
from desim.core.policy_protocols import is_drawing
from desim.core.roles import Knowledge
from desim.episodes.lineup import lineup_knows
from desim.episodes.replay import replay
from desim.jobs.rows.known_means import makers, played_roles, read_label
from desim.show.files import write_whole
from desim.studies.boards.leaderboard import boards, everything
from desim.studies.boards.score_scale import exceeds
from desim.studies.sweep_file import read_seeds
from policies.informed.beer_game import clairvoyant
from policies.informed.edt.optimal import solve
from policies.informed.enterprise_arena import known_luck
from policies.informed.yc_bench import relaxation

#: The policy whose score counts 0: doing nothing where that is a policy, else random options. In
#: the Beer Game doing nothing costs so much that all rules would look alike.
FLOORS = {"consulting": "silent", "enterprise_arena": "never_raise"}
FLOOR = "random"

#: Policies that boards play on a few seeds or not at all, because an episode takes seconds or its
#: score shows no skill.
MORE = {
    "beer_game": ("perfect",),
    "enterprise": ("planned",),
    "enterprise_arena": ("raise_when_free,amount=1e12",),
    "yc_bench": (
        "planner",
        "planner,rerolls=10,load=3",
        "planner,rerolls=30,load=3",
        "oracle",
    ),
}

#: By how much of its size a bound may be below a score that attains it: both are rounded.
ROUNDING = 1e-9


def edt_bound(model: Any, _seed: int) -> KnownBound | None:
    """Return the bound on earnings, which is of games with one decision and the code's rules."""
    if model.asks != "once" or not model.follows_code:
        return None
    found = solve(model)
    return KnownBound(found.bound, "proved" if found.gap <= 0 else "relaxation")


def share_bound(_model: Any, _seed: int) -> KnownBound:
    """Return 1: the score is a mean of shares of right answers."""
    return KnownBound(1.0, "proved")


def rubric_bound(_model: Any, _seed: int) -> KnownBound:
    """Return 10: the judge by rubric gives weighted means of scores from 0 to 10."""
    return KnownBound(10.0, "proved")


#: Functions that return the bound of a model and a seed, or None if the argument does not hold.
BOUNDS: Mapping[str, Callable[[Any, int], KnownBound | None]] = {
    "beer_game": clairvoyant.score_bound,
    "consulting": rubric_bound,
    "edt": edt_bound,
    "enterprise_arena": known_luck.score_bound,
    "reasoning": share_bound,
    "yc_bench": relaxation.score_bound,
}


@click.command()
@click.argument("names", nargs=-1, metavar="[MODEL[/PRESET]]...")
@click.option("--seeds", default="0:20", show_default=True, help="A:B without B, or A,B,...")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1))
@click.option("--bounds", is_flag=True, help="Compute the bounds alone; play nothing.")
@click.option("--levels", is_flag=True, help="Write what the policies know alone; play nothing.")
@click.option("--policy", "only", multiple=True, help="Play these alone; keep what is not beaten.")
def main(
    names: Sequence[str],
    seeds: str,
    jobs: int,
    only: Sequence[str],
    *,
    bounds: bool,
    levels: bool,
) -> None:
    """Make or refresh the data of some presets, or of all."""
    for name in everything(names):
        start = time.perf_counter()
        model, _, preset = name.partition("/")
        module = Path(inspect.getfile(catalog.model_class(model)))
        if levels:
            known = with_new_levels(name, on_file(module)[preset])
        elif bounds:
            known = with_new_bounds(name, on_file(module)[preset], jobs)
        elif only:
            known = with_policies(name, on_file(module)[preset], only, jobs)
        else:
            known = known_scores(name, read_seeds(seeds), jobs)
            known = with_records(known, on_file(module).get(preset), module.parent)
        update(module, preset, known)
        found = [known.every] if known.every else list(known.by_seed.values())
        best = fsum(one.best for one in found) / len(found)
        kinds = ", ".join(dict.fromkeys(one.ceiling.kind for one in found))
        seconds = time.perf_counter() - start
        click.echo(f"{name}: best {best:,.2f} on average, {kinds}, {seconds:.0f} s")


def known_scores(name: str, seeds: Sequence[int], jobs: int) -> KnownScores:
    """Play a preset, compute its bounds, and return what is known then."""
    world, model = name.partition("/")[0], catalog.model(name)
    each = seeds[:1] if (fixed := is_deterministic(model)) else seeds
    bounds = bounds_of(BOUNDS.get(world), model, each, jobs)
    rows = played(name, MORE.get(world, ()), each, seeds, jobs)
    counts = {policy: len(own) for (policy,), own in rows.groups("policy").items()}
    knows = levels_of(model, counts)
    roles = tuple(sorted({played_roles(read_label(one), model) or () for one in counts}))
    floor = FLOORS.get(world, FLOOR)
    scores = {
        seed: known_score(
            rows if fixed else rows.where(seed=seed),
            floor_of(rows, floor, seed, drawn=any(map(is_drawing, makers(floor, model)))),
            bound,
            knows,
        )
        for seed, bound in zip(each, bounds, strict=True)
    }
    facts = (fingerprint(model), __version__, roles, floor, counts, knows)
    return KnownScores(*facts, every=scores[each[0]]) if fixed else KnownScores(*facts, scores)


def with_new_levels(name: str, old: KnownScores) -> KnownScores:
    """Return the stored scores of a preset with what the policies declare that they know."""
    return evolve(old, knows=levels_of(catalog.model(name), old.played))


def levels_of(model: Any, policies: Iterable[str]) -> dict[str, Knowledge]:
    """Return what policies know, where it is more than observations."""
    levels = {one: lineup_knows(model, read_label(one)) for one in policies}
    return {one: level for one, level in levels.items() if level != "observation"}


def with_new_bounds(name: str, old: KnownScores, jobs: int) -> KnownScores:
    """Return the stored scores of a preset with newly computed bounds."""
    model = catalog.model(name)
    if not old.fits(model):
        raise click.UsageError(f"{name} has other parameters now; play it, without --bounds")
    seeds = [0] if old.every else list(old.by_seed)
    bounds = bounds_of(BOUNDS.get(name.partition("/")[0]), model, seeds, jobs)
    new = [
        bounded(old.every or old.by_seed[seed], bound)
        for seed, bound in zip(seeds, bounds, strict=True)
    ]
    if old.every:
        return evolve(old, every=new[0])
    return evolve(old, by_seed=dict(zip(seeds, new, strict=True)))


def with_policies(name: str, old: KnownScores, only: Sequence[str], jobs: int) -> KnownScores:
    """Return the stored scores of a preset with the runs of further policies that beat them."""
    model = catalog.model(name)
    if not old.fits(model):
        raise click.UsageError(f"{name} has other parameters now; play it, without --policy")
    rows = sweep(name, only, [0] if old.every else list(old.by_seed), executor=f"processes={jobs}")
    known = evolve(old, played={**old.played, **dict.fromkeys(only, len(rows) // len(only))})
    for row in rows:
        one = known.of(row["seed"])
        assert one is not None
        if exceeds(row["score"], one.best):
            new = evolve(one, best=row["score"], policy=row["policy"], bound=None, record="")
            known = with_best(known, model, row["seed"], bounded(new, one.bound))
    return known


def with_records(new: KnownScores, old: KnownScores | None, folder: Path) -> KnownScores:
    """Return known scores with the better runs of old ones whose records replay."""
    for seed in [0] if new.every else new.by_seed:
        one, before = new.of(seed), old.of(seed) if old else None
        if one and before and before.record and exceeds(before.best, one.best):
            episode = replay(folder / before.record)
            if episode.score == before.best:
                model = episode.inside.model if episode.inside else None
                kept = evolve(
                    one, best=before.best, policy=before.policy, bound=None, record=before.record
                )
                new = with_best(new, model, seed, bounded(kept, one.bound))
    return new


def with_best(known: KnownScores, model: Any, seed: int, new: KnownScore) -> KnownScores:
    """Return known scores with a new best run.

    Args:
        known: The known scores of a preset.
        model: Its model.
        seed: The seed of the run.
        new: The known scores of that seed with the run.
    """
    by_seed = {} if known.every else {**known.by_seed, seed: new}
    known = evolve(known, by_seed=by_seed, every=new if known.every else None)
    if new.record:
        return known
    policy, level = new.policy, lineup_knows(model, read_label(new.policy))
    knows = known.knows if level == "observation" else {**known.knows, policy: level}
    best = sum(one.policy == policy for one in by_seed.values()) or 1
    played = {**known.played, policy: max(best, known.played.get(policy, 0))}
    return evolve(known, played=played, knows=knows)


def write_book(book: Path, data: bytes, preset: str, known: KnownScores) -> None:
    """Write a book with one preset replaced, then remove the records that it names no longer.

    Args:
        book: The file.
        data: Its content before.
        preset: The preset.
        known: Its known scores.
    """
    text = with_preset(data, str(book), preset, known)
    write_whole(book, [text])
    gone = {*_records(data, book)} - {*_records(text, book)}
    for name in gone:
        (book.parent / name).unlink(missing_ok=True)


def _records(data: bytes, book: Path) -> Iterator[str]:
    for known in parsed_known_scores(data, str(book)).values():
        each = [known.every] if known.every else known.by_seed.values()
        yield from (one.record for one in each if one.record)


def played(
    name: str, more: Sequence[str], each: Sequence[int], seeds: Sequence[int], jobs: int
) -> Rows:
    """Return the rows of the baselines and of further policies, each once."""
    (board,) = boards([name], seeds, jobs)
    further = sweep(name, more, each, executor=f"processes={jobs}") if more else ()
    rows = Rows([*(row for row in board.rows if row["policy"] not in more), *further])
    assert not rows.failed, rows.failed[0]["error"]
    return rows


def floor_of(rows: Rows, policy: str, seed: int, *, drawn: bool) -> float:
    """Return the score of a policy on a seed; the mean over all seeds of one that draws."""
    own = rows.where(policy=policy)
    by_seed = dict(zip(own.column("seed"), own.values("score"), strict=True))
    return fsum(by_seed.values()) / len(by_seed) if drawn else by_seed[seed]


def known_score(
    rows: Rows, floor: float, bound: KnownBound | None, knows: Mapping[str, str]
) -> KnownScore:
    """Return what rows and a bound say; of equal runs one that observes is named first."""
    # The first of equals, as policies are in the order of the board.
    best = max(rows, key=lambda row: (row["score"], row["policy"] not in knows))
    return bounded(KnownScore(floor, best["score"], best["policy"]), bound)


def bounded(known: KnownScore, bound: KnownBound | None) -> KnownScore:
    """Return what is known of a seed with a bound, which may be a rounding below the best run."""
    if bound and bound.value < known.best <= bound.value + ROUNDING * abs(known.best):
        bound = KnownBound(known.best, bound.kind)
    return evolve(known, bound=bound)


def bounds_of(
    bound: Callable[[Any, int], KnownBound | None] | None,
    model: Any,
    seeds: Sequence[int],
    jobs: int,
) -> list[KnownBound | None]:
    """Return the bound of each seed, computed in worker processes."""
    if bound is None:
        return [None] * len(seeds)
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        return list(pool.map(partial(bound, model), seeds))


def on_file(module: Path) -> dict[str, KnownScores]:
    """Return what the file beside a model's module holds, by preset."""
    path = module.with_name(FILE_NAME)
    return dict(parsed_known_scores(path.read_bytes(), str(path))) if path.exists() else {}


def update(module: Path, preset: str, known: KnownScores) -> None:
    """Write the file beside a model's module, with this preset instead of the one of its name."""
    path, old = module.with_name(FILE_NAME), on_file(module).get(preset)
    if known.fair is None and old and old.fingerprint == known.fingerprint:
        known = evolve(known, fair=old.fair)  # written by `fair_bounds.py`
    empty = known_scores_text("tests/golden/known_scores.py", {}).encode()
    write_book(path, path.read_bytes() if path.exists() else empty, preset, known)
    assert on_file(module)[preset] == known


if __name__ == "__main__":  # spawn imports this file again
    main()
