"""Known scores of a preset, seed by seed: a floor, the best run, an upper bound.

A model keeps them as a file in its folder, which a script writes and `known_scores_of` reads.
Nothing is computed here.
"""

import hashlib
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from attrs import field, frozen

from desim.core.roles import Knowledge
from desim.errors import UsageError
from desim.schema import to_plain
from desim.schema.validators import finite
from desim.short_repr import short_repr
from desim.show.files import read_text
from desim.show.labels import estimate_text

#: The quality of a bound. "proved": no policy can score more. "relaxation": the same, but for an
#: easier problem, so possibly no policy comes near it. "best known": no bound is known, and the
#: score of the best run is used instead.
Kind = Literal["proved", "relaxation", "best known"]

#: The kind of a best score that is used instead of a bound.
BEST_KNOWN: Kind = "best known"

#: The file in the folder of a model.
FILE_NAME = "known_scores.json"

#: The format of the file; one of another format is refused.
FORMAT = 1

#: A larger file is refused.
MOST_BYTES = 10_000_000

#: The key of the only entry of a preset whose episodes do not depend on the seed.
EVERY = "every"

#: Hexadecimal digits of a fingerprint.
_DIGITS = 16

_Half = Annotated[float, msgspec.Meta(ge=0)]


class MeanBound(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fair bound of a preset, and the rule that is known to come nearest to it.

    Attributes:
        value: No policy that observes its role alone has a higher mean score over all seeds.
        kind: "proved", or "estimated": the mean of a bound that holds for each seed.
        half: Half the 95 % interval of an estimated value; 0 of a proved one.
        policy: The spec of the rule.
        gap: The value less the mean score of the rule on the same seeds.
        gap_half: Half the 95 % interval of the gap; 0 where it is equal on all seeds.
        seeds: The seeds of both, "A:B"; neither the bound nor the rule was fitted on them.
    """

    value: float
    kind: Literal["proved", "estimated"]
    half: _Half
    policy: str
    gap: float
    gap_half: _Half
    seeds: str

    @property
    def sentence(self) -> str:
        """The bound, its kind, and how near the rule comes."""
        value = estimate_text(self.value, self.half or self.gap_half)
        interval = f" ± {estimate_text(self.half, self.half)}" if self.half else ""
        near = f"is at most {estimate_text(self.gap + self.gap_half, self.gap_half)} below it"
        if not self.gap and not self.gap_half:
            near = f"attains it on each of the seeds {self.seeds}"
        return f"fair bound of the mean {value}{interval} ({self.kind}), {self.policy} {near}"


@frozen
class KnownBound:
    """An upper bound on the score of an episode, or the best known score instead.

    Attributes:
        value: A score.
        kind: "proved", "relaxation" or "best known"; the last is the score of a run, and better
            runs may exist.
    """

    value: float = field(converter=float, validator=finite)
    kind: Kind


@frozen
class KnownScore:
    """Floor, best score and bound of one seed, or of every seed.

    Attributes:
        floor: The score that counts 0 on a normalised scale.
        best: The best score of a known run; at least the floor.
        policy: The spec of that run, or the name of another method that found it.
        bound: An upper bound on the score of every policy; None if no bound is known.
        record: The record of that run beside the file, where the spec alone does not repeat it.
    """

    floor: float = field(converter=float, validator=finite)
    best: float = field(converter=float, validator=finite)
    policy: str
    bound: KnownBound | None = None
    record: str = ""

    def __attrs_post_init__(self) -> None:
        if self.bound is not None and self.bound.kind == BEST_KNOWN:
            raise ValueError(f"{self.bound} was given as a bound; it is a score, so it is a best")
        if not self.floor <= self.best <= self.ceiling.value:
            text = f"floor {self.floor:g}, best {self.best:g} and bound {self.ceiling.value:g}"
            raise ValueError(f"{text} were given; each is at least as high as the one before")

    @property
    def ceiling(self) -> KnownBound:
        """The bound; without one, the best known score."""
        return self.bound or KnownBound(self.best, BEST_KNOWN)


@frozen
class KnownScores:
    """The known scores of one preset.

    Attributes:
        fingerprint: The fingerprint of the parameters for which they were found; see `fingerprint`.
        desim: The version of desim with which they were found.
        roles: The roles that policies played, a sorted list for each way to seat them. The score
            of another line-up may count something else.
        floor: The spec of the policy whose score is the floor. A policy that draws random numbers
            counts with its mean over the seeds.
        played: By spec, the number of seeds on which it was played in search of the best run.
        knows: What the specs in `played` know, where it is more than observations.
        by_seed: The scores by seed; empty if `every` is given.
        every: The scores of every seed, if episodes do not depend on the seed.
        fair: A bound on the mean score of policies that do not know the future; None if none is
            known.
    """

    fingerprint: str
    desim: str
    roles: tuple[tuple[str, ...], ...]
    floor: str
    played: Mapping[str, int]
    knows: Mapping[str, Knowledge]
    by_seed: Mapping[int, KnownScore] = field(factory=dict)
    every: KnownScore | None = None
    fair: MeanBound | None = None

    def __attrs_post_init__(self) -> None:
        if bool(self.by_seed) == (self.every is not None):
            raise ValueError("scores of seeds, or one entry for every seed, are needed: one of two")
        if self.floor not in self.played:
            raise ValueError(f"floor {short_repr(self.floor)} is none of the policies played")

    def of(self, seed: int) -> KnownScore | None:
        """Return the known scores of a seed; None if it has none."""
        return self.every or self.by_seed.get(seed)

    def all_of(self, seeds: Iterable[int]) -> list[KnownScore] | None:
        """Return the known scores of several seeds; None if any of them has none."""
        found = [self.of(seed) for seed in seeds]
        known = [one for one in found if one]
        return known if len(known) == len(found) else None

    def fits(self, model: Any) -> bool:
        """Return whether a model has the parameters for which the scores were found."""
        return fingerprint(model) == self.fingerprint


def fingerprint(model: Any) -> str:
    """Return a fingerprint of all parameters of a model; files that they name count by name."""
    plain = msgspec.json.encode(to_plain(model), order="deterministic")
    return hashlib.sha256(plain).hexdigest()[:_DIGITS]


# -- the file --------------------------------------------------------------------------------------
class Entry(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A line of the file; the bound and its kind are given together or not at all."""

    floor: float
    best: float
    by: str
    bound: float | None = None
    kind: Kind | None = None
    record: Annotated[str, msgspec.Meta(pattern=r"^(best/[^/\\]+\.jsonl\.gz)?$")] = ""

    def known(self) -> KnownScore:
        """Return the scores of the line."""
        if (self.bound is None) != (self.kind is None):
            raise ValueError("a bound without its kind, or a kind without its bound, was given")
        bound = KnownBound(self.bound, self.kind) if self.bound is not None and self.kind else None
        return KnownScore(self.floor, self.best, self.by, bound, self.record)


class _Preset(msgspec.Struct, forbid_unknown_fields=True):
    fingerprint: str
    desim: str
    roles: tuple[tuple[str, ...], ...]
    floor: str
    played: dict[str, int]
    scores: dict[str, Entry]
    knows: dict[str, Knowledge] = {}
    fair: MeanBound | None = msgspec.field(default=None, name="fair bound")

    def known(self) -> KnownScores:
        found = {seed: entry.known() for seed, entry in self.scores.items()}
        every = found.pop(EVERY, None)
        if wrong := [seed for seed in found if not _is_seed(seed)]:
            raise ValueError(
                f"seed {short_repr(wrong[0])} was given; it is a whole number or every"
            )
        by_seed = {int(seed): one for seed, one in found.items()}
        known = (self.fingerprint, self.desim, self.roles, self.floor, self.played)
        return KnownScores(*known, self.knows, by_seed, every, self.fair)


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: int
    script: str
    presets: dict[str, _Preset]


#: The known scores by class of a model and preset, as they were read.
READ: dict[type, Mapping[str, KnownScores]] = {}


def known_scores_of(model: type, preset: str) -> KnownScores | None:
    """Return the known scores of a preset, from the file beside its class; None if it has none.

    Raises:
        UsageError: The file is damaged, or a number in it is impossible.
    """
    if model not in READ:
        module = getattr(sys.modules.get(model.__module__), "__file__", None)
        has_file = module is not None and Path(module).with_name(FILE_NAME).is_file()
        READ[model] = read_known_scores(module) if has_file else {}
    return READ[model].get(preset)


@cache
def read_known_scores(module: str) -> Mapping[str, KnownScores]:
    """Return the known scores of a model's presets, from the file in the model's folder.

    Args:
        module: The `__file__` of a module in that folder.

    Raises:
        UsageError: The file is missing or damaged, or a number in it is impossible.
    """
    path = Path(module).with_name(FILE_NAME)
    try:
        data = read_text(path, MOST_BYTES).encode()
    except OSError as fault:
        raise UsageError(f"cannot read {path}: {fault.strerror}") from None
    return parsed_known_scores(data, str(path))


def parsed_known_scores(data: bytes, name: str) -> Mapping[str, KnownScores]:
    """Return the known scores by preset, from the content of a file.

    Args:
        data: JSON, as `known_scores_text` writes it.
        name: The file's name, for the text of an error.

    Raises:
        UsageError: The content is damaged, or a number in it is impossible.
    """
    found = {}
    for preset, entry in _decoded(data, name).presets.items():
        try:
            found[preset] = entry.known()
        except ValueError as fault:
            raise UsageError(f"{name}, preset {short_repr(preset)}: {fault}") from None
    return found


def _decoded(data: bytes, name: str) -> _File:
    try:
        file = msgspec.json.decode(data, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise UsageError(f"{name} holds no known scores: {fault}") from None
    if file.format != FORMAT:
        raise UsageError(f"{name} has format {file.format}; this version reads format {FORMAT}")
    return file


def _is_seed(text: str) -> bool:
    return text.isascii() and text.isdecimal() and str(int(text[:20])) == text
