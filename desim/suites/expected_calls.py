"""Calls and tokens that an episode takes, as measured with a stub in place of a language model.

`policies/llm/expected_calls.json` ships the figures; `experiments/measure_calls.py` writes them.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from attrs import evolve, frozen

from desim.catalog.policy_spec import Spec
from desim.episodes.lineup import Policies, assign
from desim.errors import DesimError
from desim.suites.suite_file import argument_text
from desim.suites.suite_plan import MODEL_POLICY, PlannedWorld

#: The file of the figures, in the wheel and in a checkout.
FILE = Path(__file__).resolve().parents[2] / "policies" / "llm" / "expected_calls.json"

#: Arguments of a language model that change neither its prompts nor the number of its calls.
_WITHOUT_EFFECT = {
    *("model", "base_url", "key_env", "temperature", "seed", "timeout", "resends", "retries"),
    *("max_calls", "max_tokens", "max_cost", "price_in", "price_out", "price_cached"),
    *("price_cache_write", "reported_cost", "reply_tokens", "memory"),
}


#: Differences from the measurement that are accepted besides options, small ones first.
_MAY_DIFFER = (("episodes",), ("parameters",), ("episodes", "parameters"))


class PlayedAs(msgspec.Struct, frozen=True):
    """A world and the language models in it, as measured or as an entry plays them.

    Attributes:
        world: The model with its preset.
        set: The parameters changed, as texts.
        episodes: Episodes in a row, between which methods learn.
        policies: The spec of the language model of each role, without the arguments that change
            neither prompts nor calls.
    """

    world: str
    set: dict[str, str]
    episodes: int
    policies: dict[str, str]


class MeasuredCalls(msgspec.Struct, frozen=True):
    """The calls and tokens of an episode.

    Attributes:
        played: What was played.
        seeds: The number of seeds, or of series, over which the figures are means.
        calls: Requests of an episode.
        prompt_tokens: Tokens read, the whole conversation with every request.
        completion_tokens: Tokens written.
        phases: The calls by phase, those of steps excepted.
    """

    played: PlayedAs
    seeds: int
    calls: float
    prompt_tokens: float
    completion_tokens: float
    phases: dict[str, float] = {}


@frozen
class ExpectedUse:
    """The measured use of an entry in a world.

    Attributes:
        measured: The figures.
        differs: What differs between the measurement and the entry, such as "options"; empty if it
            is the same.
    """

    measured: MeasuredCalls
    differs: tuple[str, ...] = ()

    @property
    def basis(self) -> str:
        """The basis of the figures, in words."""
        other = f", other {' and '.join(self.differs)}" if self.differs else ""
        return f"stub, {self.measured.seeds} seeds{other}"


@cache
def shipped() -> tuple[MeasuredCalls, ...]:
    """Return the figures that ship; none where the file is missing."""
    try:
        return read_measured(FILE.read_bytes())
    except OSError:
        return ()


def read_measured(content: bytes) -> tuple[MeasuredCalls, ...]:
    """Return the figures of a file's content."""
    return msgspec.json.decode(content, type=tuple[MeasuredCalls, ...])


def played_as(world: PlannedWorld, policies: Policies) -> PlayedAs | None:
    """Return what an entry plays in a world; None without a language model."""
    models = model_specs(world.model, policies)
    if not models:
        return None
    name = world.table.model.partition("/")[0]
    changes = {key: argument_text(value) for key, value in sorted(world.table.set.items())}
    return PlayedAs(f"{name}/{world.preset}", changes, world.episodes, models)


def model_specs(model: Any, policies: Policies) -> dict[str, str]:
    """Return the specs of language models by role, without arguments that have no effect."""
    try:
        specs = {r: Spec.read(p) for r, p in assign(model, policies).items() if isinstance(p, str)}
    except DesimError:  # the check of a plan reports it
        return {}
    return {
        role: str(evolve(spec, arguments=_with_effect(spec.arguments)))
        for role, spec in sorted(specs.items())
        if spec.name == MODEL_POLICY
    }


def expected_use(played: PlayedAs, measured: Sequence[MeasuredCalls]) -> ExpectedUse | None:
    """Return the figures that are nearest to what is played; None without any.

    Roles, world and method are the same in all cases; options other than the method, the number of
    episodes in a row, and changed parameters may differ, which the result says.
    """
    plain = {role: _method_alone(spec) for role, spec in played.policies.items()}
    bare = msgspec.structs.replace(played, policies=plain)
    options = ("options",) * (bare != played)
    tries = [((), played), (options, bare)]
    tries += [((*options, *more), bare) for more in _MAY_DIFFER]
    found = (
        ExpectedUse(one, differs)
        for differs, wanted in tries
        for one in measured
        if _same(one.played, wanted, differs)
    )
    return next(found, None)


def _same(one: PlayedAs, other: PlayedAs, differs: Iterable[str]) -> bool:
    return (
        one.world == other.world
        and one.policies == other.policies
        and (one.episodes == other.episodes or "episodes" in differs)
        and (one.set == other.set or ("parameters" in differs and not one.set))
    )


def _method_alone(spec: str) -> str:
    read = Spec.read(spec)
    return str(evolve(read, arguments={k: v for k, v in read.arguments.items() if k == "method"}))


def _with_effect(arguments: Mapping[str, str]) -> dict[str, str]:
    return {k: v for k, v in sorted(arguments.items()) if k not in _WITHOUT_EFFECT}
