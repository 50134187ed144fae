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

from desim.core.roles import Knowledge
from desim.errors import UsageError
from desim.schema import to_plain
from desim.short_repr import short_repr
from desim.show.files import read_text
from desim.show.labels import estimate_text

#: The kind of a best score that replaces a bound that is not known.
BEST_KNOWN = "best known"

#: The file in the folder of a model.
FILE_NAME = "known_scores.json"

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


class KnownScore(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Floor, best score and bound of one seed, or of every seed: a line of the file.

    Attributes:
        floor: The score that counts 0 on a normalised scale.
        best: The best score of a known run; at least the floor.
        policy: The spec of that run, or the name of another method that found it.
        bound: An upper bound on the score of every policy; None if none is known.
        kind: "proved", or "relaxation": that of an easier problem, so possibly no policy comes
            near it; given with a bound.
        record: The record of that run beside the file, where the spec alone does not repeat it.
    """

    floor: float
    best: float
    policy: str = msgspec.field(name="by")
    bound: float | None = None
    kind: Literal["proved", "relaxation"] | None = None
    record: Annotated[str, msgspec.Meta(pattern=r"^(best/[^/\\]+\.jsonl\.gz)?$")] = ""

    def __post_init__(self) -> None:
        if (self.bound is None) != (self.kind is None):
            raise ValueError("a bound without its kind, or a kind without its bound, was given")
        if not self.floor <= self.best <= self.ceiling:
            text = f"floor {self.floor:g}, best {self.best:g} and bound {self.ceiling:g}"
            raise ValueError(f"{text} were given; each is at least as high as the one before")

    @property
    def ceiling(self) -> float:
        """The bound; without one, the best known score."""
        return self.best if self.bound is None else self.bound

    @property
    def ceiling_kind(self) -> str:
        """The kind of the ceiling."""
        return self.kind or BEST_KNOWN


class KnownScores(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The known scores of one preset.

    Attributes:
        fingerprint: The fingerprint of the parameters for which they were found; see `fingerprint`.
        desim: The version of desim with which they were found.
        roles: The roles that policies played, a sorted list for each way to seat them. The score
            of another line-up may count something else.
        floor: The spec of the policy whose score is the floor. A policy that draws random numbers
            counts with its mean over the seeds.
        played: By spec, the number of seeds on which it was played in search of the best run.
        scores: By seed, or under `EVERY` if episodes do not depend on the seed.
        knows: What the specs in `played` know, where it is more than observations.
        fair: A bound on the mean score of policies that do not know the future; None if none is
            known.
    """

    fingerprint: str
    desim: str
    roles: tuple[tuple[str, ...], ...]
    floor: str
    played: dict[str, int]
    scores: dict[Annotated[str, msgspec.Meta(pattern="^(every|0|[1-9][0-9]*)$")], KnownScore]
    knows: dict[str, Knowledge] = {}
    fair: MeanBound | None = msgspec.field(default=None, name="fair bound")

    def __post_init__(self) -> None:
        if not self.scores or (self.every and self.scores.keys() != {EVERY}):
            raise ValueError("scores of seeds, or one entry for every seed, are needed: one of two")
        if self.floor not in self.played:
            raise ValueError(f"floor {short_repr(self.floor)} is none of the policies played")

    @property
    def every(self) -> KnownScore | None:
        """The scores of every seed, if episodes do not depend on the seed."""
        return self.scores.get(EVERY)

    def of(self, seed: int) -> KnownScore | None:
        """Return the known scores of a seed; None if it has none."""
        return self.every or self.scores.get(str(seed))

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


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: Literal[1]
    script: str
    presets: dict[str, KnownScores]


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
    """Return the known scores of a model's presets, from the file beside a module's `__file__`.

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
    """Return the known scores by preset, from the content of a file of that name.

    Raises:
        UsageError: The content is damaged, or a number in it is impossible.
    """
    try:
        return msgspec.json.decode(data, type=_File).presets
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise UsageError(f"{name} holds no known scores: {fault}") from None
