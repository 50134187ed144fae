"""Known scores of a preset, seed by seed: a floor, the best run, an upper bound.

A model keeps them as a file in its folder, which a script writes and `known_scores_of` reads.
Nothing is computed here.
"""

import hashlib
import json
import math
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import (
    Any,
    Literal,
    get_args,
)

import msgspec
from attrs import asdict, field, frozen

from desim.catalog.mean_bound import MeanBound
from desim.core.roles import Knowledge
from desim.errors import UsageError
from desim.schema import to_plain
from desim.short_repr import short_repr
from desim.show.files import read_text

#: The quality of a bound. "proved": no policy can score more. "relaxation": the same, but for an
#: easier problem, so possibly no policy comes near it. "best known": no bound is known, and the
#: score of the best run is used instead.
Kind = Literal["proved", "relaxation", "best known"]


#: The kind of a best score that is used instead of a bound.
BEST_KNOWN: Kind = "best known"


#: The file in the folder of a model.
FILE_NAME = "known_scores.json"


#: The format of the file; one of another format is refused.
_FORMAT = 1


#: A larger file is refused.
MOST_BYTES = 10_000_000


#: The key of the only entry of a preset whose episodes do not depend on the seed.
_EVERY = "every"


#: Hexadecimal digits of a fingerprint.
_DIGITS = 16


def _finite(value: Any) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value):
        raise ValueError(f"{short_repr(value)} was given; a score is a finite number")
    return float(value)


def _kind(value: Any) -> Kind:
    if value not in get_args(Kind):
        raise ValueError(
            f"kind {short_repr(value)} was given; possible: {', '.join(get_args(Kind))}"
        )
    found: Kind = value
    return found


def _record(value: Any) -> str:
    if value and not re.fullmatch(r"best/[^/\\]+\.jsonl\.gz", value):
        raise ValueError(f"record {short_repr(value)} was given; it is best/NAME.jsonl.gz")
    return str(value)


@frozen
class KnownBound:
    """An upper bound on the score of an episode, or the best known score instead.

    Attributes:
        value: A score.
        kind: "proved", "relaxation" or "best known"; the last is the score of a run, and better
            runs may exist.
    """

    value: float = field(converter=_finite)
    kind: Kind = field(converter=_kind)


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

    floor: float = field(converter=_finite)
    best: float = field(converter=_finite)
    policy: str
    bound: KnownBound | None = None
    record: str = field(default="", converter=_record)

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
class _Entry(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A line of the file; the bound and its kind are given together or not at all."""

    floor: float
    best: float
    by: str
    bound: float | None = None
    kind: str | None = None
    record: str = ""

    def known(self) -> KnownScore:
        if (self.bound is None) != (self.kind is None):
            raise ValueError("a bound without its kind, or a kind without its bound, was given")
        bound = None if self.bound is None else KnownBound(self.bound, self.kind)
        return KnownScore(self.floor, self.best, self.by, bound, self.record)


class _Fair(msgspec.Struct, forbid_unknown_fields=True):
    value: float
    kind: str
    half: float
    policy: str
    gap: float
    gap_half: float
    seeds: str

    def known(self) -> MeanBound:
        return MeanBound(**msgspec.structs.asdict(self))


class _Preset(msgspec.Struct, forbid_unknown_fields=True):
    fingerprint: str
    desim: str
    roles: tuple[tuple[str, ...], ...]
    floor: str
    played: dict[str, int]
    scores: dict[str, _Entry]
    knows: dict[str, Knowledge] = {}
    fair: _Fair | None = msgspec.field(default=None, name="fair bound")

    def known(self) -> KnownScores:
        found = {seed: entry.known() for seed, entry in self.scores.items()}
        every = found.pop(_EVERY, None)
        if wrong := [seed for seed in found if not _is_seed(seed)]:
            raise ValueError(
                f"seed {short_repr(wrong[0])} was given; it is a whole number or every"
            )
        by_seed = {int(seed): one for seed, one in found.items()}
        known = (self.fingerprint, self.desim, self.roles, self.floor, self.played)
        fair = self.fair.known() if self.fair else None
        return KnownScores(*known, self.knows, by_seed, every, fair)


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
    if file.format != _FORMAT:
        raise UsageError(f"{name} has format {file.format}; this version reads format {_FORMAT}")
    return file


def known_scores_text(script: str, presets: Mapping[str, KnownScores]) -> str:
    """Return the content of a file: sorted, one line for each seed, so that diffs are readable.

    Args:
        script: The path of the script that found the scores, in the repository.
        presets: The known scores by preset.
    """
    blocks = [f"  {_json(name)}: {_block(known)}" for name, known in sorted(presets.items())]
    head = f'{{\n "format": {_FORMAT},\n "script": {_json(script)},\n "presets": {{\n'
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
        facts["fair bound"] = asdict(known.fair)
    scores = {str(seed): known.by_seed[seed] for seed in sorted(known.by_seed)}
    if known.every:
        scores[_EVERY] = known.every
    lines = [f"   {_json(key)}: {_json(value)}" for key, value in facts.items()]
    seeds = ",\n".join(f"    {_json(seed)}: {_json(_entry(one))}" for seed, one in scores.items())
    return "{\n" + ",\n".join(lines) + f',\n   "scores": {{\n{seeds}\n   }}\n  }}'


def _entry(one: KnownScore) -> _Entry:
    bound = one.bound
    value, kind = (bound.value, bound.kind) if bound else (None, None)
    return _Entry(one.floor, one.best, one.policy, value, kind, one.record)


def _json(value: Any) -> str:
    return json.dumps(msgspec.to_builtins(value), allow_nan=False)


def _is_seed(text: str) -> bool:
    return text.isascii() and text.isdecimal() and str(int(text[:20])) == text
