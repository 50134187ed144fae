"""The best known scores as a record book: any run that replays and scores more can be entered.

The book of a model is the file of its known scores. A run of shipped policies that open nothing is
entered by their spec, which plays it again; of any other run a record without notes is kept, in the
folder `best` beside the file.
"""

import inspect
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from attrs import evolve, frozen

from desim.catalog import model_finder
from desim.catalog.known_scores import (
    FILE_NAME,
    MOST_BYTES,
    HasKnownScores,
    KnownScore,
    KnownScores,
    parsed_known_scores,
    with_preset,
)
from desim.catalog.presets import from_preset
from desim.core.limits import Limits
from desim.core.model_protocols import Model, default_roles, offers
from desim.episodes.driver import play
from desim.episodes.episode_options import UNTRUSTED, TrustOptions
from desim.episodes.lineup import lineup_knows
from desim.episodes.replay import replay
from desim.errors import DesimError, UsageError
from desim.jobs.rows.known_means import KnownMeans, read_label
from desim.records.episode import Episode
from desim.records.lines import Header
from desim.records.reach import policy_reaches
from desim.records.record_lock import RecordLock
from desim.records.recorder import Recorder
from desim.schema import to_plain
from desim.short_repr import cut, short_repr, visible_text
from desim.show.files import read_regular, write_whole
from desim.show.labels import estimate_text
from desim.show.table import Printed, Table
from desim.studies.boards.score_scale import exceeds

#: Wall time in which the policies of a record must play the run again to stand for it.
_AGAIN = Limits(seconds=600)


@frozen
class BookEntry:
    """A run that was entered.

    Attributes:
        world: Model and preset, as `model/preset`.
        seed: The seed of the run.
        before: The best known score before.
        now: The known scores of the seed with this run.
        file: The book.
    """

    world: str
    seed: int
    before: float
    now: KnownScore
    file: Path


def enter(
    record: str | Path, file: str | Path = "", trusted: TrustOptions = UNTRUSTED
) -> BookEntry:
    """Enter the run of a record in the book of its model.

    Args:
        record: A whole record of an episode with the parameters of a preset.
        file: The book; empty for the one in the model's folder. A new one begins as that one.
        trusted: What replaying the record may use.

    Raises:
        BadRecord: The record cannot be read, or does not replay.
        UsageError: The run does not beat the best known score of its preset and seed, or it is of
            other parameters or roles; or the book cannot be written. Nothing is changed.
    """
    episode = replay(record, trust=trusted.trust, model=trusted.model)
    assert episode.inside is not None
    header, model = episode.header, episode.inside.model
    source = _source(type(model))
    book = Path(file) if file else source
    if not file and source.is_relative_to(sysconfig.get_path("purelib")):
        raise UsageError(
            f"{source} is part of an installed package; name a file of your own with --file"
        )
    with RecordLock(book, "written"):
        data = _content(book if book.exists() else source)
        known, old = _beaten(episode, model, parsed_known_scores(data, str(book)), record)
        new = _new_best(episode, model, known, old, book)
        write_book(book, data, header.preset, with_best(known, model, header.seed, new))
    world = f"{model_finder.model_name(type(model))}/{header.preset}"
    return BookEntry(world, header.seed, old.best, new, book)


def _source(cls: type) -> Path:
    """Return the book in the folder of a model's class."""
    return Path(inspect.getfile(cls)).with_name(FILE_NAME)


def _content(book: Path) -> bytes:
    try:
        return read_regular(book, MOST_BYTES)
    except OSError as fault:
        raise UsageError(f"cannot read {book}: {fault.strerror}") from None


def _beaten(
    episode: Episode, model: Model[Any], book: Mapping[str, KnownScores], record: str | Path
) -> tuple[KnownScores, KnownScore]:
    """Return the known scores of the preset and of the seed that a run beats.

    Raises:
        UsageError: It beats none.
    """
    header, known = episode.header, book.get(episode.header.preset)
    roles = tuple(sorted(header.policies))
    if known is None or not _is_of(known, header.preset, model):
        raise UsageError(f"{record}: nothing is known of the scores with its parameters")
    if header.futures:
        raise UsageError(f"{record}: its future was redrawn, so it is no run of its seed")
    if roles not in known.roles:
        named = " or ".join(", ".join(each) for each in known.roles)
        raise UsageError(
            f"{record}: {', '.join(roles)} played; the known scores are those of {named}"
        )
    if (old := known.of(header.seed)) is None:
        raise UsageError(f"{record}: nothing is known of the scores with seed {header.seed}")
    if old.bound and exceeds(episode.score, old.bound.value):
        raise UsageError(
            f"{record}: score {episode.score:,.10g} is above the bound {old.bound.value:,.10g} "
            f"({old.bound.kind}); the bound or the model is wrong"
        )
    if not exceeds(episode.score, old.best):
        raise UsageError(
            f"{record}: score {episode.score:,.10g} does not beat the best known score, "
            f"{old.best:,.10g} by {old.policy}"
        )
    return known, old


def _is_of(known: KnownScores, preset: str, model: Model[Any]) -> bool:
    """Return whether known scores are those of a preset as it is now, which a model equals."""
    own = from_preset(type(model), preset)
    # Not by the fingerprint of the model: a whole number may be on record as a float.
    return known.fits(own) and to_plain(own) == to_plain(model)


def _new_best(
    episode: Episode, model: Model[Any], known: KnownScores, old: KnownScore, book: Path
) -> KnownScore:
    """Return the known scores of a seed with a new best run, whose record is kept if needed."""
    header = episode.header
    bound = old.bound
    if bound and bound.value < episode.score:  # both are rounded
        bound = evolve(bound, value=episode.score)
    new = KnownScore(old.floor, episode.score, _label(header, model), bound)
    if _plays_again(episode, model):
        return new
    name = header.preset if known.every else f"{header.preset}-{header.seed}"
    new = evolve(new, record=f"best/{name}.jsonl.gz")
    _keep(episode, book.parent / new.record)
    return new


def _label(header: Header, model: Model[Any]) -> str:
    """Return the policies of a run as one spec, or each with its role."""
    labels = header.policies
    if len({*labels.values()}) == 1 and {*labels} == {*default_roles(model)}:
        return _one_line(next(iter(labels.values())))
    return _one_line(" ".join(f"{role}={label}" for role, label in labels.items()))


def _one_line(label: str) -> str:
    """Return the name that a record gives its policies, on one line that can be printed."""
    if label.isprintable():
        return cut(label) or "unnamed"
    return cut(" ".join(visible_text(label).split())) or "unnamed"


def _plays_again(episode: Episode, model: Model[Any]) -> bool:
    """Return whether the specs on record, which may open nothing, play the same run."""
    header = episode.header
    for role, label in header.policies.items():
        if policy_reaches(role, label, header.model, header.params):
            return False
    try:
        again = play(model, header.policies, header.seed, keep_state=False, limits=_AGAIN)
    except DesimError:
        return False
    return (again.score, again.ledger_digest) == (episode.score, episode.ledger_digest)


def _keep(episode: Episode, path: Path) -> None:
    """Write a record of a run without the notes of its policies.

    Raises:
        UsageError: Its folder cannot be made or written.
    """
    assert episode.result is not None
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(exist_ok=True)
        part.unlink(missing_ok=True)
    except OSError as fault:
        raise UsageError(f"cannot write {path}: {fault.strerror}") from None
    with Recorder(part, ".gz") as recorder:
        recorder.head(episode.header)
        for step in episode.steps:
            recorder.step(msgspec.structs.replace(step, notes=None))
        recorder.result(evolve(episode.result, usage={}))
        recorder.become(path)


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


# -- the list --------------------------------------------------------------------------------------

_HEADS = ("world", "seeds", "best known", "of", "bound", "kind", "headroom")

_WORDS = (0, 1, 3, 5)

_HEADROOM = (
    "headroom: what the bound leaves open above the best known score, as a share of the scale from "
    "the floor to the bound; means over seeds. Without a bound it is not known."
)


def headroom(names: Sequence[str], file: str | Path = "") -> Table:
    """Return the best known scores of presets, their policies, and what their bounds leave open.

    Args:
        names: Names from `leaderboard.everything`; those without known scores are left out.
        file: The book that holds them; empty for those in the models' folders.

    Raises:
        UsageError: A book is missing or damaged, or its scores are of other parameters.
    """
    lines = []
    for name in names:
        model, _, preset = name.partition("/")
        cls = model_finder.model_class(model)
        if not file and not offers(cls, HasKnownScores):
            continue
        book = Path(file) if file else _source(cls)
        known = parsed_known_scores(_content(book), str(book)).get(preset)
        if known and not known.fits(from_preset(cls, preset)):
            raise UsageError(
                f"{book} holds scores of preset {short_repr(preset)} with other parameters than "
                f"{name} has; name the book of that model"
            )
        if known:
            scores = [known.every] if known.every else known.by_seed.values()
            lines.append(_headroom_cells(name, KnownMeans(known, tuple(scores))))
    return Table(_HEADS, lines, _WORDS, legend=[_HEADROOM])


def _headroom_cells(name: str, means: KnownMeans) -> list[Any]:
    best, bound = means.best, means.bound
    seeds = "every" if means.known.every else len(means.scores)
    known = [name, seeds, _score_cell(best), means.policies]
    if bound is None:
        return [*known, None, means.kind, None]
    scale = bound - means.floor
    share = (bound - best) / scale if scale else 0.0
    return [*known, _score_cell(bound), means.kind, Printed(share, f"{share:.1%}")]


def _score_cell(score: float) -> Printed:
    return Printed(score, estimate_text(score))
