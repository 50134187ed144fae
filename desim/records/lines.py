"""The lines of a record: JSON objects whose key `line` says which of the classes below it is.

The last line, a result or a failure, ends with the SHA-256 of all bytes before that field, a
checksum against damage that does not prove who wrote the record.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import msgspec

from desim import catalog
from desim.catalog.presets import encoded_parameters
from desim.core.model import Model, own_revision
from desim.core.result import Result
from desim.core.roles import MOST_TICKS, Knowledge, Role
from desim.errors import BadRecord, SchemaError, UsageError
from desim.records.provenance import Provenance
from desim.records.reach import model_reaches, refuse
from desim.schema import encode, encode_tagged, from_plain, has_tags, tagged
from desim.short_repr import shortened
from desim.version import __version__

#: The policy in a header for a role that a person plays.
PERSON = "person"

#: The format of the lines, which the header names; it is counted up when their meaning changes.
FORMAT = "desim-episode/4"


class Header(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="header", tag_field="line"
):
    """The first line of a record: what is needed to play the episode again, except the answers.

    Attributes:
        model: A name in the catalog, or `module:Class`.
        preset: The nearest one.
        policies: Labels by role.
        starts: For a branch: by role the number of decisions that were repeated from another record
            before its policy began.
        futures: For a branch: the numbers of decisions after which the future was redrawn, and the
            seeds.
        knows: What policies know, by role, where it is more than observations.
    """

    format: str
    version: str
    model: str
    preset: str
    params: dict[str, Any]
    seed: int
    policies: dict[str, str]
    starts: dict[str, int] = {}
    futures: tuple[tuple[int, int], ...] = ()
    knows: dict[str, Knowledge] = {}
    provenance: Provenance = Provenance()

    @classmethod
    def of(
        cls,
        model: Model[Any],
        seed: int,
        policies: Mapping[str, str],
        starts: Mapping[str, int] = {},
        futures: Iterable[tuple[int, int]] = (),
        knows: Mapping[str, Knowledge] = {},
    ) -> "Header":
        """Return the header of an episode that starts now."""
        return cls(
            format=FORMAT,
            version=__version__,
            model=catalog.model_name(type(model)),
            preset=catalog.nearest_preset(model),
            params=msgspec.json.decode(encoded_parameters(model)),
            seed=seed,
            policies=dict(policies),
            starts=dict(starts),
            futures=tuple(futures),
            knows=dict(knows),
            provenance=Provenance.of(model),
        )

    def changes(self, model: Model[Any]) -> str:
        """Return what has changed in its world since, as the end of an error text, or nothing."""
        return self.provenance.changes(self.model, Provenance.of(model))

    def futures_of_branch(self, decisions: int, future: int | None) -> tuple[tuple[int, int], ...]:
        """Return the futures of a branch; its own replaces all later ones, None keeps them."""
        if future is None:
            return self.futures
        return (*(each for each in self.futures if each[0] <= decisions), (decisions, future))

    def build(self, *, trust: bool = False) -> Model[Any]:
        """Build the model.

        Raises:
            BadRecord: Its class does not exist here, or does not take these parameters.
            UsageError: It would import a module or open a file, without *trust*.
        """
        if not trust:
            refuse(model_reaches(self.model, self.params))
        try:
            built: Model[Any] = from_plain(self.params, catalog.model_class(self.model), "params")
        except (SchemaError, UsageError) as fault:
            cls = catalog.known_class(self.model)
            since = self.provenance.other_revision(self.model, own_revision(cls) if cls else None)
            what = f"{shortened(self.model)} of desim {shortened(self.version)}"
            raise BadRecord(f"written for {what}: {fault}{since}") from None
        return built


class Step(
    msgspec.Struct, frozen=True, omit_defaults=True, gc=False, tag="decision", tag_field="line"
):
    """One decision.

    Attributes:
        observation: The role's observation; plain JSON values when read from a file.
        action: The role's action; a tagged object when read from a file.
        notes: Those of the policy, such as tokens and cost.
        possible: The tags of the actions that could answer; empty where all of the role's could.
        delay: Ticks from the question until the answer took effect.
    """

    t: int
    role: str
    observation: Any
    action: Any
    notes: dict[str, Any] | None = None
    possible: tuple[str, ...] = ()
    delay: Annotated[int, msgspec.Meta(ge=0, le=MOST_TICKS)] = 0

    encoded = staticmethod(encode)

    @property
    def observed(self) -> bytes:
        """The observation as JSON."""
        return self.encoded(self.observation)

    @property
    def line(self) -> "Step":
        """The decision as it is written, with observation and action as JSON."""
        seen, done = msgspec.Raw(self.observed), msgspec.Raw(tagged(self.action))
        return Step(self.t, self.role, seen, done, self.notes or None, self.possible, self.delay)


class TaggedStep(Step, frozen=True, omit_defaults=True, gc=False):
    """A decision just made of a role that observes several classes, written with their tags."""

    encoded = staticmethod(encode_tagged)


def step_class(role: Role) -> type[Step]:
    """Return the class of a role's decisions."""
    return TaggedStep if has_tags(role.observation) else Step


class TranscriptEntry(
    msgspec.Struct, frozen=True, omit_defaults=True, gc=False, tag="transcript", tag_field="line"
):
    """What a policy received or wrote before it decided, as a plain JSON value of its own.

    In an `Episode` it has the number of decisions *after* which that was; in a record its place.
    """

    entry: Any
    role: str
    after: int = 0


class ResumedLine(msgspec.Struct, frozen=True, gc=False, tag="resumed", tag_field="line"):
    """The place, behind so many decisions, where a cut record was resumed."""

    decisions: int


class ResultLine(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="result", tag_field="line"
):
    """The last line of a record: `desim.Result`; a digest of the record follows its fields."""

    score: float
    ended: str
    metrics: dict[str, Any]
    decisions: int
    ledger_digest: str | None
    usage: dict[str, dict[str, int | float]] = {}
    waiting: tuple[str, ...] = ()

    @classmethod
    def of(cls, result: Result) -> "ResultLine":
        """Return the last line for a result."""
        line = {name: getattr(result, name) for name in cls.__struct_fields__}
        return cls(**line | {"metrics": dict(result.metrics), "usage": dict(result.usage)})

    def result(self) -> Result:
        """Return the result."""
        return Result(**msgspec.structs.asdict(self))


class FailureLine(msgspec.Struct, frozen=True, kw_only=True, tag="failure", tag_field="line"):
    """The last line of a record whose model failed.

    Attributes:
        error: The exception, and the place where it was raised.
        decisions: The number of answered decisions; the last of them preceded the failure.
        before: Their number before the tick of the last one; `desim branch --at` takes the next.
    """

    t: int
    error: str
    decisions: int
    before: int


Line = Header | Step | TranscriptEntry | ResumedLine | ResultLine | FailureLine
