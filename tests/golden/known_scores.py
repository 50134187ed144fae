"""Writes `known_scores.json`: the best score that each world is known to allow, seed by seed.

Plays all baselines of presets, and the further policies of `MORE`; takes the floor, the best score
and its policy on each seed; and writes `known_scores.json` in the folders of the models. Presets
that are not named stay as they are, and so do better runs of which a record is kept and replays.

Programs that proved bounds, and the two rules of `GONE`, are not in the tree any more. What they
found stays on file as long as the parameters of its preset do.
"""

import inspect
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from pathlib import Path
from typing import Any, Literal

import click
import msgspec
from msgspec.structs import replace

from desim import Rows, __version__, catalog, sweep
from desim.catalog import policy_finder
from desim.catalog.known_scores import (
    EVERY,
    FILE_NAME,
    KnownScore,
    KnownScores,
    fingerprint,
    parsed_known_scores,
)
from desim.catalog.model_finder import everything
from desim.core.policy import is_drawing
from desim.core.roles import Knowledge
from desim.engine.plan import FIXED
from desim.episodes.lineup import lineup_knows
from desim.episodes.replay import replay
from desim.rows.known_means import played_roles, read_label
from desim.show.files import write_whole
from desim.studies.boards.baselines import boards, exceeds
from desim.studies.sweep import read_seeds

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
    ),
}

#: By how much of its size a bound may be below a score that attains it: both are rounded.
ROUNDING = 1e-9


#: An upper bound on scores, and its kind.
Bound = tuple[float, Literal["proved", "relaxation"]]

#: Bounds that follow from the score: a judge by rubric gives weighted means of scores from 0 to 10,
#: and a score of items is a mean of shares of right answers.
BOUNDS: dict[str, Bound] = {"consulting": (10, "proved"), "reasoning": (1, "proved")}

#: Rules that knew the future and searched it: the commit that the files name has them.
GONE = {"known_luck", "oracle"}


@click.command()
@click.argument("names", nargs=-1, metavar="[MODEL[/PRESET]]...")
@click.option("--seeds", default="0:20", show_default=True, help="A:B without B, or A,B,...")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1))
@click.option("--levels", is_flag=True, help="Write what the policies know alone; play nothing.")
@click.option("--policy", "only", multiple=True, help="Play these alone; keep what is not beaten.")
def main(
    names: Sequence[str],
    seeds: str,
    jobs: int,
    only: Sequence[str],
    *,
    levels: bool,
) -> None:
    """Make or refresh the data of some presets, or of all."""
    for name in everything(names):
        start = time.perf_counter()
        model, _, preset = name.partition("/")
        module = Path(inspect.getfile(catalog.model_class(model)))
        if levels:
            known = with_new_levels(name, on_file(module)[preset])
        elif only:
            known = with_policies(name, on_file(module)[preset], only, jobs)
        else:
            old = on_file(module).get(preset)
            known = with_older(known_scores(name, read_seeds(seeds), jobs), old, module.parent)
        update(module, preset, known)
        found = [*known.scores.values()]
        best = fsum(one.best for one in found) / len(found)
        kinds = ", ".join(dict.fromkeys(one.ceiling_kind for one in found))
        seconds = time.perf_counter() - start
        click.echo(f"{name}: best {best:,.2f} on average, {kinds}, {seconds:.0f} s")


def known_scores(name: str, seeds: Sequence[int], jobs: int) -> KnownScores:
    """Play a preset and return what is known then."""
    world, model = name.partition("/")[0], catalog.model(name)
    each = seeds[:1] if (fixed := model.deterministic) else seeds
    rows = played(name, MORE.get(world, ()), each, seeds, jobs)
    # One episode of a policy that does not draw stands for all seeds of a deterministic preset.
    counts = {
        policy: 1 if FIXED in own[0] else len(own)
        for (policy,), own in rows.groups("policy").items()
    }
    knows = levels_of(model, counts)
    roles = tuple(sorted({played_roles(one, model) or () for one in counts}))
    floor = FLOORS.get(world, FLOOR)
    scores = {
        EVERY if fixed else str(seed): known_score(
            rows if fixed else rows.where(seed=seed),
            floor_of(rows, floor, seed, drawn=is_drawing(policy_finder.policy(floor, type(model)))),
            BOUNDS.get(world),
            knows,
        )
        for seed in each
    }
    return KnownScores(fingerprint(model), __version__, roles, floor, counts, scores, knows)


def with_new_levels(name: str, old: KnownScores) -> KnownScores:
    """Return the stored scores of a preset with what the policies declare that they know."""
    gone = {one: level for one, level in old.knows.items() if one in GONE}
    return replace(old, knows={**gone, **levels_of(catalog.model(name), {*old.played} - GONE)})


def levels_of(model: Any, policies: Iterable[str]) -> dict[str, Knowledge]:
    """Return what policies know, where it is more than observations."""
    levels = {one: lineup_knows(model, read_label(one)) for one in policies}
    return {one: level for one, level in levels.items() if level != "observation"}


def with_policies(name: str, old: KnownScores, only: Sequence[str], jobs: int) -> KnownScores:
    """Return the stored scores of a preset with the runs of further policies that beat them."""
    model = catalog.model(name)
    if not old.fits(model):
        raise click.UsageError(f"{name} has other parameters now; play it, without --policy")
    rows = sweep(name, only, seeds_of(old), executor=f"processes={jobs}")
    known = replace(old, played={**old.played, **dict.fromkeys(only, len(rows) // len(only))})
    for row in rows:
        one = known.of(row["seed"])
        assert one is not None
        if exceeds(row["score"], one.best):
            new = replace(
                one, best=row["score"], policy=row["policy"], bound=None, kind=None, record=""
            )
            known = with_best(known, model, row["seed"], bounded(new, bound_of(one)))
    return known


def with_older(new: KnownScores, old: KnownScores | None, folder: Path) -> KnownScores:
    """Return known scores with bounds and better runs of old ones that hold for them, too."""
    same = old is not None and old.fingerprint == new.fingerprint
    for seed in seeds_of(new):
        one, before = new.of(seed), old.of(seed) if old else None
        if one is None or old is None or before is None:
            continue
        if same and one.bound is None:
            one = bounded(one, bound_of(before))
        if exceeds(before.best, one.best) and (
            replays(before, folder) if before.record else same and before.policy in GONE
        ):
            run = {"best": before.best, "policy": before.policy, "record": before.record}
            one = bounded(replace(one, bound=None, kind=None, **run), bound_of(one))
            if before.policy in GONE:
                level, many = old.knows[before.policy], old.played[before.policy]
                played = {**new.played, before.policy: many}
                new = replace(new, played=played, knows={**new.knows, before.policy: level})
        new = with_score(new, seed, one)
    return new


def replays(known: KnownScore, folder: Path) -> bool:
    """Return whether the record of a best run has its score."""
    return bool(replay(folder / known.record).score == known.best)


def with_score(known: KnownScores, seed: int, new: KnownScore) -> KnownScores:
    """Return known scores with another one of a seed."""
    return replace(known, scores={**known.scores, EVERY if known.every else str(seed): new})


def seeds_of(known: KnownScores) -> list[int]:
    """Return the seeds of known scores; 0 for those of every seed."""
    return [0] if known.every else [*map(int, known.scores)]


def with_best(known: KnownScores, model: Any, seed: int, new: KnownScore) -> KnownScores:
    """Return known scores with a new best run of a seed, which a policy of the tree has played."""
    known = with_score(known, seed, new)
    policy, level = new.policy, lineup_knows(model, read_label(new.policy))
    knows = known.knows if level == "observation" else {**known.knows, policy: level}
    best = sum(one.policy == policy for one in known.scores.values()) or 1
    played = {**known.played, policy: max(best, known.played.get(policy, 0))}
    return replace(known, played=played, knows=knows)


def write_book(book: Path, data: bytes, preset: str, known: KnownScores) -> None:
    """Write a book with one preset replaced, then remove the records that it names no longer.

    Args:
        book: The file.
        data: Its content before.
        preset: The preset.
        known: Its known scores.
    """
    others = parsed_known_scores(data, str(book))
    script = json.loads(data)["script"]
    text = known_scores_text(script, {**others, preset: known}).encode()
    write_whole(book, [text])
    gone = {*_records(data, book)} - {*_records(text, book)}
    for name in gone:
        (book.parent / name).unlink(missing_ok=True)


def _records(data: bytes, book: Path) -> Iterator[str]:
    for known in parsed_known_scores(data, str(book)).values():
        yield from (one.record for one in known.scores.values() if one.record)


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
    rows: Rows, floor: float, bound: Bound | None, knows: Mapping[str, str]
) -> KnownScore:
    """Return what rows and a bound say; of equal runs one that observes is named first."""
    # The first of equals, as policies are in the order of the board.
    best = max(rows, key=lambda row: (row["score"], row["policy"] not in knows))
    return bounded(KnownScore(floor, best["score"], best["policy"]), bound)


def bound_of(known: KnownScore) -> Bound | None:
    """Return the bound of a seed with its kind."""
    return (known.bound, known.kind) if known.bound is not None and known.kind else None


def bounded(known: KnownScore, bound: Bound | None) -> KnownScore:
    """Return what is known of a seed with a bound, which may be a rounding below the best run."""
    value, kind = bound or (None, None)
    if value is not None and value < known.best <= value + ROUNDING * abs(known.best):
        value = known.best
    return replace(known, bound=value, kind=kind)


def on_file(module: Path) -> dict[str, KnownScores]:
    """Return what the file beside a model's module holds, by preset."""
    path = module.with_name(FILE_NAME)
    return dict(parsed_known_scores(path.read_bytes(), str(path))) if path.exists() else {}


def update(module: Path, preset: str, known: KnownScores) -> None:
    """Write the file beside a model's module, with this preset instead of the one of its name."""
    path, old = module.with_name(FILE_NAME), on_file(module).get(preset)
    if known.fair is None and old and old.fingerprint == known.fingerprint:
        known = replace(known, fair=old.fair)
    empty = known_scores_text("tests/golden/known_scores.py", {}).encode()
    write_book(path, path.read_bytes() if path.exists() else empty, preset, known)
    assert on_file(module)[preset] == known


def known_scores_text(script: str, presets: Mapping[str, KnownScores]) -> str:
    """Return the content of a file: sorted, one line for each seed, so that diffs are readable.

    Args:
        script: The path of the script that found the scores, in the repository.
        presets: The known scores by preset.
    """
    blocks = [f"  {_json(name)}: {_block(known)}" for name, known in sorted(presets.items())]
    head = f'{{\n "format": 1,\n "script": {_json(script)},\n "presets": {{\n'
    return head + ",\n".join(blocks) + "\n }\n}\n"


def _block(known: KnownScores) -> str:
    facts = {
        "fingerprint": known.fingerprint,
        "desim": known.desim,
        "roles": known.roles,
        "floor": known.floor,
        "played": dict(sorted(known.played.items())),
        "knows": dict(sorted(known.knows.items())),
    }
    if known.fair:
        facts["fair bound"] = known.fair
    scores = {
        key: known.scores[key] for key in sorted(known.scores, key=lambda key: (len(key), key))
    }
    lines = [f"   {_json(key)}: {_json(value)}" for key, value in facts.items()]
    seeds = ",\n".join(f"    {_json(seed)}: {_json(one)}" for seed, one in scores.items())
    return "{\n" + ",\n".join(lines) + f',\n   "scores": {{\n{seeds}\n   }}\n  }}'


def _json(value: Any) -> str:
    return json.dumps(msgspec.to_builtins(value), allow_nan=False)


if __name__ == "__main__":  # spawn imports this file again
    main()
