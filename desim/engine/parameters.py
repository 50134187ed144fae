"""Parameters that vary: their values as texts, ranges of searches, and the models they make."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal, get_args

import msgspec
from attrs import frozen

from desim.catalog import model_finder
from desim.catalog.changes import changed
from desim.catalog.presets import encoded_parameters, from_preset, nearest_preset, presets
from desim.composition.parts_model import PartsModel
from desim.core.model import Model
from desim.errors import UsageError
from desim.schema import to_plain
from desim.schema.arguments import needs_arguments
from desim.short_repr import short_repr


def combinations(values: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield every combination of the values by parameter as texts; the last name varies fastest.

    >>> list(combinations({"weeks": [26, 52], "lead": 2}))
    [{'weeks': '26', 'lead': '2'}, {'weeks': '52', 'lead': '2'}]
    """
    columns = []
    for name, given in values.items():
        value = from_numpy(given)
        several = isinstance(value, Sequence) and not isinstance(value, str | bytes)
        texts = [value_text(each) for each in (value if several else [value])]
        if not texts:
            raise UsageError(f"{name} has no value; give at least one")
        refuse_duplicates(name, texts)
        columns.append(texts)
    for combination in itertools.product(*columns):
        yield dict(zip(values, combination, strict=True))


def from_numpy(value: Any) -> Any:
    """Return numpy scalars and arrays as Python numbers and lists; other values unchanged."""
    return value.tolist() if callable(getattr(value, "tolist", None)) else value


def refuse_duplicates(what: str, values: Iterable[Any], instead: str = "once") -> None:
    """Raise a `UsageError` if a value occurs twice."""
    seen = set()
    for value in values:
        if value in seen:
            raise UsageError(f"{what} {value} is given twice; give it {instead}")
        seen.add(value)


def value_text(value: Any) -> str:
    """Return a plain value as text; its type is checked where the text is read."""
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(to_plain(from_numpy(value))).decode()
    except TypeError:
        raise UsageError(
            f"{short_repr(value)} is no value for a parameter; give plain values"
        ) from None


# -- ranges ----------------------------------------------------------------------------------------

#: The scale of a range: even, even over whole numbers, or even in the logarithm.
Scale = Literal["float", "int", "log"]

_SCALES: tuple[Scale, ...] = get_args(Scale)

#: Values of a range are rounded to so many digits of its width, so that tables stay readable; of a
#: logarithmic one, to so many digits of the value. On the edge is what is within a share of it.
_DIGITS, _EDGE = 7, 0.05

_FORMS = (
    "low:high, int:low:high with whole numbers, log:low:high above 0, each with the lower number "
    "first, or choice:A|B|... with 2 different values or more"
)


@frozen
class Range:
    """All numbers between two ends, which are included, as whole ones or by equal ratios."""

    low: float
    high: float
    scale: Scale = "float"

    def __attrs_post_init__(self) -> None:
        whole = float(self.low).is_integer() and float(self.high).is_integer()
        fits = {"float": True, "int": whole, "log": self.low > 0}.get(self.scale, False)
        if not (fits and self.low < self.high and math.isfinite(self.high - self.low)):
            raise UsageError(f"range {self} was given; possible: {_FORMS}")

    def __str__(self) -> str:
        scale = "" if self.scale == "float" else f"{self.scale}:"
        return f"{scale}{self.low:.15g}:{self.high:.15g}"

    def value(self, place: float) -> float:
        """Return the value at a place from 0 to 1."""
        width = self.high - self.low
        if self.scale == "int":
            return int(min(self.high, self.low + math.floor(place * (width + 1))))
        if self.scale == "log":
            return self.rounded(self.low * (self.high / self.low) ** place)
        return self.rounded(self.low + place * width)

    def rounded(self, number: float) -> float:
        """Return a number between the ends as a value of the parameter."""
        if self.scale == "int":
            return int(number)
        size = number if self.scale == "log" else self.high - self.low
        digits = _DIGITS - 1 - math.floor(math.log10(size))
        return min(self.high, max(self.low, round(number, digits)))

    def on_edge(self, value: float) -> bool:
        """Return whether a value is so near an end that the range may limit a search."""
        place = (value - self.low) / (self.high - self.low)
        if self.scale == "log":
            place = math.log(value / self.low) / math.log(self.high / self.low)
        return min(place, 1 - place) <= _EDGE


@frozen
class Choices:
    """Several values without an order: at least 2, all different and none empty."""

    values: tuple[Any, ...]

    def __attrs_post_init__(self) -> None:
        if len(self.values) < 2 or "" in self.values:  # noqa: PLR2004 (one value does not vary)
            raise UsageError(f"{self} was given; possible: {_FORMS}")
        for value in self.values:
            if isinstance(value, float) and not math.isfinite(value):
                raise UsageError(f"value {value} was given; values are finite")
        refuse_duplicates("value", map(repr, self.values))

    def __str__(self) -> str:
        return f"choice:{'|'.join(map(str, self.values))}"

    def value(self, place: float) -> Any:
        """Return the value at a place from 0 to 1; each has a share of the same size."""
        return self.values[min(len(self.values) - 1, math.floor(place * len(self.values)))]

    def rounded(self, value: Any) -> Any:
        """Return the value itself."""
        return value

    def on_edge(self, value: Any) -> bool:  # noqa: ARG002 (as `Range`)
        """Return False, as choices have no ends."""
        return False


def read_range(text: str) -> Range | Choices | None:
    """Return the range or choices of a text; None for other texts, such as a path with a colon.

    >>> str(read_range("int:0:60")), read_range("csv:file.csv:demand")
    ('int:0:60', None)
    """
    kind, _, rest = text.strip().partition(":")
    if kind == "choice":
        return Choices(tuple(each.strip() for each in rest.split("|")))
    scale = next((one for one in _SCALES if one == kind), None)
    try:
        low, high = map(float, (rest if scale else text).split(":"))
    except ValueError:
        if scale is None:
            return None
        raise UsageError(f"{short_repr(text)} was given; possible: {_FORMS}") from None
    return Range(low, high, scale or "float")


def read_ranges(given: Mapping[str, Any]) -> tuple[dict[str, Range | Choices], dict[str, Any]]:
    """Return the ranges of a search, and the parameters that have one value.

    >>> read_ranges({"policy.target": "int:0:60", "horizon": 26})
    ({'policy.target': Range(low=0.0, high=60.0, scale='int')}, {'horizon': 26})
    """
    ranges: dict[str, Range | Choices] = {}
    for name, one in given.items():
        try:
            found = read_range(one) if isinstance(one, str) else one
        except UsageError as fault:
            raise UsageError(f"{name}: {fault}") from None
        if isinstance(found, Range | Choices):
            ranges[name] = found
    if not ranges:
        raise UsageError(
            f"no range was given; give one as in policy.target=int:0:60; possible: {_FORMS}"
        )
    return ranges, {name: one for name, one in given.items() if name not in ranges}


# -- models ----------------------------------------------------------------------------------------

#: A model's name in the catalog, its preset or the nearest one, and the model with its parameters.
NamedModel = tuple[str, str, Model[Any]]


def named_models(
    models: Sequence[Any],
    preset: str,
    params: Mapping[str, Any],
    points: Sequence[Mapping[str, str]] = ({},),
) -> Iterator[NamedModel]:
    """Yield each model for each combination of parameters, and of each one all points of a design.

    Points are texts by further parameters; the other arguments are those of `sweep`.
    """
    for given in models:
        built, own = _model(given, preset)
        name = model_finder.model_name(type(built))
        for texts in combinations(params):
            model = changed(built, texts)
            yield from ((name, own, changed(model, point) if point else model) for point in points)


def _model(given: Any, preset: str) -> tuple[Model[Any], str]:
    """Return the model and the name of its preset, or of the nearest one."""
    built = model_finder.model(given, preset)
    name, _, behind = given.partition("/") if isinstance(given, str) else ("", "", "")
    if isinstance(given, type) or (name and not model_finder.builder(name)):
        return built, preset or behind or presets(type(built))[0]
    return built, nearest_preset(built)


def shown_parameters(models: Sequence[NamedModel], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return for each model the parameters that its rows show: the same for all of one class.

    These are those in *names*, and those in which a model differs from its preset.
    """
    opened = {name[:end] for name in names for end, letter in enumerate(name) if letter == "."}
    plain = [_open(_plain(model), opened) for _, _, model in models]
    presets_of: dict[tuple[str, str], dict[str, Any]] = {}
    differing: dict[str, set[str]] = {}
    for (name, preset, model), values in zip(models, plain, strict=True):
        if (name, preset) not in presets_of:
            presets_of[name, preset] = _open(_usual(type(model), preset), opened) or values
        usual = presets_of[name, preset]
        differing.setdefault(name, set(names)).update(
            key for key in values if key not in usual or values[key] != usual[key]
        )
    return [
        {key: value for key, value in values.items() if key in differing[name]}
        for (name, _, _), values in zip(models, plain, strict=True)
    ]


def _open(plain: Any, opened: AbstractSet[str], prefix: str = "") -> dict[str, Any]:
    """Return plain parameters by name; those in *opened* are replaced by their members.

    With `scenario` in *opened*, `{"scenario": {"dt": 1}}` becomes `{"scenario.dt": 1}`.
    """
    items = plain.items() if isinstance(plain, dict) else enumerate(plain)
    found: dict[str, Any] = {}
    for key, value in items:
        name = f"{prefix}{key}"
        inside = name in opened and isinstance(value, dict | list)
        found |= _open(value, opened, f"{name}.") if inside else {name: value}
    return found


def _usual(cls: type[Model[Any]], preset: str) -> dict[str, Any]:
    """Return the plain parameters of a preset; empty for a class without defaults."""
    if not cls.presets[preset] and needs_arguments(cls):
        return {}
    return _plain(from_preset(cls, preset))


def _plain(model: Model[Any]) -> dict[str, Any]:
    """Return the plain parameters of a model as `--set` names them.

    Those of a part's model are under the part's name, not in the parameter that holds the part.
    """
    plain: dict[str, Any] = msgspec.json.decode(encoded_parameters(model))
    for _, _, inside in model.inner_models(plain) if isinstance(model, PartsModel) else ():
        if isinstance(inside, dict):
            inside.clear()
    return {**plain, **{name: _plain(part) for name, part in model.models.items()}}
