"""Gymnasium spaces of frozen classes: exact actions, and observations that always fit."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
import numpy as np
import pytest
from attrs import field, frozen
from attrs.validators import ge, gt, in_, le, lt, matches_re, max_len, min_len
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from desim import catalog
from desim.core.roles import Role
from desim.errors import UsageError, WrongAction
from desim.schema import codec, to_plain

pytest.importorskip("gymnasium")

from gymnasium import spaces

from desim.adapters.seat.role_spaces import ActionSpace, ObservationSpace, SeatForm
from desim.adapters.seat.spaces import CHARSET

Schema = Mapping[str, Any]

#: Entries of a list and characters of a text, at most.
_MOST = 5
_LONGEST = 30


def plain_values(schema: Schema, defs: Mapping[str, Schema], alphabet: str) -> st.SearchStrategy:
    """Return a strategy of values that fit a schema.

    Args:
        schema: As `desim.schema` makes it.
        defs: Definitions by name.
        alphabet: The characters of texts.
    """

    def of(inner: Schema) -> st.SearchStrategy:
        return plain_values(inner, defs, alphabet)

    if "$ref" in schema:
        return of(defs[schema["$ref"].rsplit("/", 1)[-1]])
    if "anyOf" in schema:
        return st.one_of([of(each) for each in schema["anyOf"]])
    if schema.get("type") == "array":
        return st.lists(of(schema["items"]), max_size=_MOST)
    if schema.get("type") == "object":
        return st.fixed_dictionaries({k: of(v) for k, v in schema["properties"].items()})
    return _single(schema, alphabet)


def _single(schema: Schema, alphabet: str) -> st.SearchStrategy:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "pattern" in schema:
        return st.from_regex(schema["pattern"], fullmatch=True, alphabet="0123456789/-")
    if "minimum" in schema:
        whole = schema["type"] == "integer"
        low, high = schema["minimum"], schema["maximum"]
        return st.integers(low, high) if whole else st.floats(float(low), float(high))
    known = {"null": st.none(), "string": st.text(alphabet, max_size=_LONGEST)}
    return known[schema["type"]] if "type" in schema else _anything()


def _anything() -> st.SearchStrategy:
    numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    leaves = st.none() | st.booleans() | numbers | st.text(max_size=_LONGEST)
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=_MOST), max_leaves=6)


LIMITS = SeatForm(max_text=400, max_entries=8, bounds="schema")
USUAL = SeatForm(max_text=400, max_entries=8)


def roles() -> dict[str, Any]:
    """Return every different union of actions of the catalog, by the first role that has it."""
    found: dict[Any, str] = {}
    for name in catalog.models():
        for preset in catalog.presets(catalog.model_class(name)):
            for role, spec in catalog.model(name, preset).roles.items():
                found.setdefault(spec.action, f"{name}/{preset}:{role}")
    return {name: action for action, name in found.items()}


def classes() -> list[Any]:
    """Return every action class of the catalog with its union."""
    return [
        pytest.param(action, tag, id=f"{where.partition('/')[0]}.{tag}")
        for where, action in roles().items()
        for tag in codec(action).classes
    ]


def written(plain: Any) -> bytes:
    """Return a plain value as JSON, in which 12 and 12.0 differ."""
    return msgspec.json.encode(plain, order="sorted")


# -- actions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("action", "tag"), classes())
def test_every_action_passes_its_space_and_comes_back(action: Any, tag: str) -> None:
    """Its tagged object is the same to the last digit; the space holds what is between."""
    schemas = codec(action).json_schema()["$defs"]
    space = ActionSpace(Role(Left, action), LIMITS)
    name = codec(action).classes[tag].__name__

    @examples(15)
    @given(plain_values(schemas[name], schemas, CHARSET))
    def comes_back(tagged: dict[str, Any]) -> None:
        member = space.encode(tagged)
        assert space.space.contains(member)
        assert written(space.decode(member)) == written(tagged)
        assert codec(action).take(space.decode(member))[1] == codec(action).take(tagged)[1]

    comes_back()


@pytest.mark.parametrize("where", roles())
def test_every_sample_is_an_action(where: str) -> None:
    """The schema takes what the space draws, also within usual ranges: random agents can play."""
    world, _, name = where.partition(":")
    role = catalog.model(world).roles[name]
    wide = ActionSpace(role, SeatForm(max_text=4_000, bounds="schema"))  # JSON texts are longer
    for form in (LIMITS, USUAL):
        space = ActionSpace(role, form)
        space.space.seed(7)
        for _ in range(20):
            member = space.space.sample()
            assert space.space.contains(member)
            tagged = space.decode(member)
            kept, _ = codec(role.action).take(tagged)
            assert written(wide.decode(wide.encode(kept))) == written(tagged)


def usual_space(world: str) -> ActionSpace:
    """The action space of a world's first role, within usual ranges."""
    return ActionSpace(next(iter(catalog.model(world).roles.values())), USUAL)


@pytest.mark.parametrize(
    ("world", "path", "low", "high"),
    [
        ("beer_game/classic", ("order", "quantity", "number"), 0, 60),
        ("beer_game/firmbench", ("order", "quantity", "number"), 0, 2000),
        ("enterprise_arena", ("fund_raising_request", "amount"), 150_000, 50_000_000),
    ],
)
def test_a_usual_range_bounds_a_number(
    world: str, path: tuple[str, ...], low: float, high: float
) -> None:
    """It depends on the parameters of the world."""
    space: Any = usual_space(world).space
    for name in path:
        space = space[name]
    assert (float(space.low), float(space.high)) == (low, high)


@pytest.mark.parametrize(
    ("world", "action"),
    [
        ("beer_game", {"do": "order", "quantity": 2001}),
        ("reasoning", {"do": "answer", "text": "x" * 401}),
        ("reasoning", {"do": "answer", "text": "字"}),
    ],
)
def test_an_action_that_the_space_cannot_hold_is_refused(world: str, action: Any) -> None:
    """It is neither clipped nor cut: the tagged object itself can be given."""
    with pytest.raises(UsageError, match=r"does not hold: give .*, or the tagged object itself"):
        usual_space(world).encode(action)


@pytest.mark.parametrize(
    "member",
    [
        None,
        3,
        {},
        {"do": 0},
        {"do": 1.5, "order": {}},
        {"do": 7, "order": {}},
        {"do": -1, "order": {}},
        {"do": 0, "order": {"quantity": 3}},
        {"do": 0, "order": {"quantity": {"kind": 0, "integer": np.array(2.5), "number": 0}}},
        {"do": 0, "order": {"quantity": {"kind": 0, "integer": np.zeros(3), "number": 0}}},
        {"do": 0, "order": {"quantity": {"kind": 0, "integer": "7", "number": 0}}},
    ],
)
def test_what_is_no_member_is_a_wrong_action(member: Any) -> None:
    """The text says what the role answers with."""
    space = ActionSpace(catalog.model("beer_game").roles["retailer"], LIMITS)
    with pytest.raises(WrongAction, match=r"is not in the action space.*expected Order"):
        space.decode(member)


# -- a class with every kind of field --------------------------------------------------------------


@frozen
class Left:
    """One side.

    Attributes:
        depth: How far.
    """

    depth: int = field(validator=[ge(-3), le(3)])


@frozen
class Right:
    """The other side."""


@frozen
class Middle:
    """Between both.

    Attributes:
        width: How wide.
    """

    width: float


@frozen
class Everything:
    """Every kind of field.

    Attributes:
        few: A small whole number.
        above: A whole number above another.
        share: A share.
        inside: A number between two, without these.
        sure: A truth value.
        grade: One of three.
        size: One of some numbers.
        code: One or two digits and a letter.
        name: A text.
        names: A list.
        side: One of two classes.
        maybe: A class or none.
        table: A mapping.
        pair: A tuple of two.
    """

    few: int = field(validator=[ge(2), le(9)])
    above: int = field(validator=gt(5))
    share: float = field(validator=[ge(0), le(1)])
    inside: float = field(validator=[gt(0), lt(1)])
    sure: bool
    grade: Literal["a", "b", "c"]
    size: int = field(validator=in_([10, 20]))
    code: str = field(validator=matches_re(r"\d{1,2}-x"))
    name: str = field(validator=[min_len(2), max_len(5)])
    names: tuple[str, ...] = field(converter=tuple, validator=[min_len(1), max_len(3)])
    side: Left | Right
    maybe: Middle | None
    table: dict[str, float]
    pair: tuple[int, float]


WHOLE = Everything(
    few=3,
    above=10**18,
    share=1.0,
    inside=1e-300,
    sure=True,
    grade="b",
    size=20,
    code="42-x",
    name="é—",
    names=("a", "b"),
    side=Right(),
    maybe=Middle(-3.5),
    table={"x": 0.1},
    pair=(1, 2.5),
)


EVERYTHING = Role(Left, Everything)


def test_every_kind_of_field_has_a_space() -> None:
    """The table of the module's docstring."""
    member = ActionSpace(EVERYTHING, LIMITS).space["everything"]
    assert member["few"] == spaces.Discrete(8, start=2)
    assert (member["above"].low, member["above"].dtype) == (6, np.int64)
    assert (member["share"].low, member["share"].high, member["share"].shape) == (0, 1, ())
    assert 0 < member["inside"].low < 1e-300 < member["inside"].high < 1
    assert member["sure"] == spaces.Discrete(2)
    assert member["grade"] == spaces.Discrete(3)
    assert member["size"] == spaces.Discrete(2)
    assert (member["name"].min_length, member["name"].max_length) == (2, 5)
    assert member["names"]["mask"] == spaces.MultiBinary(3)
    assert len(member["names"]["entries"]) == 3
    assert member["side"]["kind"] == spaces.Discrete(2)
    assert member["maybe"]["kind"] == spaces.Discrete(2)
    assert member["table"] == spaces.Text(400, min_length=0, charset=CHARSET)


def test_every_kind_of_field_comes_back() -> None:
    """Also an instance, whose tagged object it is."""
    space = ActionSpace(EVERYTHING, LIMITS)
    assert space.decode(space.encode(WHOLE)) == {"do": "everything", **to_plain(WHOLE)}


# -- observations ----------------------------------------------------------------------------------


@frozen
class Desk:
    """What is observed.

    Attributes:
        cash: Without bounds.
        units: Whole or not.
        text: Any text.
        rows: Any number of them.
    """

    cash: int
    units: int | float
    text: str
    rows: tuple[Left | None, ...]


@examples(100)
@given(
    st.integers(-(2**63), 2**63),
    st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=600),
    st.lists(st.none() | st.builds(Left, st.integers(-3, 3)), max_size=20),
)
def test_every_observation_fits_its_spaces(cash: int, units: float, text: str, rows: Any) -> None:
    """Numbers are clipped, texts and lists cut, other characters replaced; a flat one likewise."""
    desk = Desk(cash, units, text, tuple(rows))
    for form in (LIMITS, SeatForm(flat=True)):
        space = ObservationSpace(Desk, form)
        member = space.encode(desk)
        assert space.space.contains(member)
        assert space.space.contains(space.blank())


def test_what_does_not_fit_is_cut_to_the_nearest() -> None:
    """Nothing that fits is changed."""
    space = ObservationSpace(Desk, SeatForm(max_text=4, max_entries=2))
    member = space.encode(Desk(2**63, 1.5, "añ字bc", (Left(1), None, Left(3))))
    assert int(member["cash"]) == 2**62
    assert float(member["units"]) == 1.5
    assert member["text"] == "añ�b"
    assert member["rows"]["mask"].tolist() == [1, 1]
    kinds = [int(each["kind"]) for each in member["rows"]["entries"]]
    assert kinds == [1, 0]


def test_a_flat_observation_has_numbers_kinds_and_masks() -> None:
    """Texts are left out; what is absent counts 0."""
    space = ObservationSpace(Desk, SeatForm(max_entries=2, flat=True))
    assert space.encode(Desk(7, 1.5, "text", (Left(-2),))).tolist() == [
        *(7, 1.5),
        *(1, 0),  # the mask
        *(0, 1, -2),  # kind and depth of the first
        *(0, 0, 0),
    ]
