"""Frozen classes as tagged objects, back again, and as JSON Schema."""

import enum
import json
import math
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import pytest
from attrs import Attribute, field, frozen, make_class
from attrs.validators import (
    and_,
    deep_iterable,
    ge,
    gt,
    in_,
    le,
    lt,
    matches_re,
    max_len,
    min_len,
    optional,
)
from hypothesis import given
from hypothesis import strategies as st
from support.cases import stable

from desim.errors import SchemaError, WrongAction
from desim.schema import Codec, codec, encode, from_plain, tag, to_plain


def is_even(_: Any, attribute: "Attribute[int]", value: int) -> None:
    """Refuse odd numbers."""
    if value % 2:
        raise ValueError(f"{attribute.name}={value} is odd")


@frozen
class Place:
    """A room of a house."""

    floor: int = field(validator=ge(0))
    room: int = 0


@frozen
class Fixed:
    """A salary."""

    pay: float


@frozen
class Hourly:
    """A wage."""

    rate: float
    hours: tuple[int, ...] = ()


class Level(enum.Enum):
    """How much a person knows."""

    JUNIOR = "junior"
    SENIOR = "senior"


@frozen
class Hire:
    """Hire a person.

    What follows is not for the schema.

    Attributes:
        name: Two to five
            small letters.
        days: Notice in days,
            0 to 99.
        undocumented_later: No such field exists.

    Source: nowhere.
    """

    name: str = field(validator=[min_len(2), max_len(5), matches_re("[a-z]+")])
    days: int = field(default=7, validator=and_(ge(0), lt(100)))
    share: float | None = field(default=None, validator=optional([gt(0), le(1)]))
    grade: str = field(default="a", validator=in_(("a", "b")))
    team: str | None = field(default=None, validator=optional(in_({"red", "blue"})))
    place: Place | None = None
    terms: Fixed | Hourly | None = None
    past: tuple[Place, ...] = field(default=(), validator=max_len(3))


@frozen
class AssignAll:
    """Everybody works on one task."""

    _task: int
    class_: str = "x"
    pairs: list[int] = field(factory=list, validator=deep_iterable(is_even))


@frozen
class Wait:
    """Do nothing."""


ROLE = Codec(Hire | AssignAll | Wait)


def test_a_tag_is_the_class_name_in_snake_case() -> None:
    """Abbreviations and digits are not split."""
    names = ("AssignAll", "HTTPServer", "Order2Go")
    assert [tag(type(name, (), {})) for name in names] == ["assign_all", "http_server", "order2_go"]


def test_a_tagged_object_names_its_class_first() -> None:
    """All fields follow; a private one has the name that the constructor takes."""
    assert ROLE.take(Wait()) == (Wait(), b'{"do":"wait"}')
    assert ROLE.take(AssignAll(3))[1] == b'{"do":"assign_all","task":3,"class_":"x","pairs":[]}'
    hire = Hire("ann", terms=Hourly(9.5, (8,)), place=Place(1))
    assert json.loads(ROLE.take(hire)[1]) == {
        "do": "hire",
        "name": "ann",
        "days": 7,
        "share": None,
        "grade": "a",
        "team": None,
        "place": {"floor": 1, "room": 0},
        "terms": {"do": "hourly", "rate": 9.5, "hours": [8]},
        "past": [],
    }


def test_what_is_left_out_takes_its_default() -> None:
    """Also where a factory makes the default."""
    assert ROLE.read({"do": "hire", "name": "ann"}) == Hire("ann")
    first, second = (ROLE.read(b'{"do":"assign_all","task":2}') for _ in range(2))
    assert first == second == AssignAll(2)
    assert first.pairs is not second.pairs


def test_an_action_can_be_given_as_instance_mapping_or_text() -> None:
    """`take` accepts an object, `read` also its JSON."""
    plain = {"do": "assign_all", "task": 1}
    assert ROLE.take(plain)[0] == ROLE.read(json.dumps(plain)) == AssignAll(1)
    assert ROLE.read(json.dumps(plain).encode()) == AssignAll(1)
    assert ROLE.take(plain)[1] == ROLE.take(AssignAll(1))[1]
    with pytest.raises(WrongAction, match="expected Hire, AssignAll or Wait"):
        ROLE.take(json.dumps(plain))


HIRE = {"do": "hire", "name": "ann"}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({**HIRE, "nmae": 1}, "unknown field `nmae`"),
        ({**HIRE, "days": -1}, r"Expected `int` >= 0 - at `\$\.days`"),
        ({**HIRE, "terms": {"do": "fixed", "pay": -math.inf}}, r"finite .*`\$\.terms\.pay`"),
        ({**HIRE, "terms": {"pay": 1.0}}, r"missing required field `do` - at `\$\.terms`"),
        ({**HIRE, "name": "Ann"}, r"matching regex .* - at `\$\.name`"),
        ({**HIRE, "name": "an\ud800"}, "surrogates not allowed"),
        ({**HIRE, "past": [{"floor": 1}, {"floor": -1}]}, r">= 0 - at `\$\.past\[1\]\.floor`"),
        ({"do": "assign_all", "task": 1, "pairs": [2, 3]}, r"pairs=3 is odd - at `\$`"),
        ({"do": "hier", "name": "ann"}, "did you mean 'hire'. Possible: hire, assign_all, wait"),
        ({}, "missing required field `do`"),
        ('{"do":"hire","name":"ann","share":NaN}', "JSON is malformed"),
        (b"\xff\xfe", "JSON is malformed"),
        (object(), "type object cannot be written as JSON"),
    ],
    ids=lambda value: stable(value)[:60],
)
def test_what_does_not_fit_is_refused_with_the_path_of_its_fault(given: Any, says: str) -> None:
    """One sentence: what was given, what is wrong and where, what was expected."""
    with pytest.raises(WrongAction, match=says) as refused:
        ROLE.read(given)
    assert str(refused.value).endswith("expected Hire, AssignAll or Wait")
    assert len(refused.value.args) == 1


def test_json_nested_beyond_reason_is_refused() -> None:
    """Deep nesting in a field of any type is an error, not the end of the program."""
    say = make_class("Say", {"what": field(type=Any)}, frozen=True)
    with pytest.raises(WrongAction, match=r"recursion|Stack overflow"):  # of Python 3.14
        Codec(say).read('{"do":"say","what":' + "[" * 100_000 + "]" * 100_000 + "}")


@pytest.mark.parametrize(
    ("action", "says"),
    [
        (Hire("ann", days=True), r"got `bool` - at `\$\.days`"),
        (Hire("ann", place=Place(floor=True)), r"got `bool` - at `\$\.place\.floor`"),
        (Hire("ann", terms=Fixed(math.nan)), r"not a finite number - at `\$\.terms\.pay`"),
        (AssignAll(object()), "cannot be written as JSON"),  # type: ignore[arg-type]
        (None, "expected Hire"),
    ],
    ids=lambda value: stable(value)[:50],
)
def test_instances_are_checked_too(action: Any, says: str) -> None:
    """The types of an instance's fields were never checked."""
    with pytest.raises(WrongAction, match=says):
        ROLE.take(action)


def test_an_infinite_optional_number_is_refused() -> None:
    """JSON has no infinity, and msgspec writes null instead."""

    @frozen
    class Bet:
        at: float | None = None
        odds: tuple[float | None, ...] = ()

    assert Codec(Bet).take(Bet())[1] == b'{"do":"bet","at":null,"odds":[]}'
    for bad in (Bet(math.inf), Bet(math.nan), Bet(1.0, (None, math.nan))):
        with pytest.raises(WrongAction, match="not a finite number"):
            Codec(Bet).take(bad)


def test_a_process_receives_what_a_replay_reads() -> None:
    """3 for a float becomes 3.0, a list for a tuple a tuple, a mapping for a class an instance."""

    @frozen
    class Loose:
        share: float = 0.0
        many: tuple[int, ...] = ()
        place: Place | None = None
        big: int | float = 0

    loose: Any = Loose
    given = loose(3, [1, 2], {"floor": 4}, 2**53 + 1)
    kept, wire = Codec(Loose).take(given)
    assert kept == Loose(3.0, (1, 2), Place(4), 2**53 + 1) == Codec(Loose).read(wire)
    assert (type(kept.share), type(kept.many), type(kept.big)) == (float, tuple, int)


def test_a_union_inside_a_container_is_tagged() -> None:
    """In lists, mappings and lists of lists."""

    @frozen
    class Note:
        things: tuple[Fixed | Hourly, ...] = ()
        named: Mapping[str, Fixed | Hourly] = field(factory=dict)
        deep: list[list[Fixed | Hourly | None]] = field(factory=list)

    note = Note((Fixed(1.0), Hourly(2.0)), {"a": Hourly(3.0)}, [[Fixed(4.0), None]])
    assert Codec(Note).read(Codec(Note).take(note)[1]) == note
    plain = {"do": "note", "things": [{"do": "fixed", "pay": 1.0}]}
    assert Codec(Note).read(plain) == Note((Fixed(1.0),))
    assert from_plain(to_plain(note), Note) == note


def test_fields_may_have_any_name() -> None:
    """Also names that Python or msgspec uses itself."""
    given_ = {"origin": 4, "from_": 5, "tag": 6}
    cls = make_class("Odd", {name: field(type=int) for name in given_}, frozen=True)
    assert Codec(cls).read({"do": "odd", **given_}) == cls(4, 5, 6)
    assert Codec(cls).take(cls(4, 5, 6))[1] == b'{"do":"odd","origin":4,"from_":5,"tag":6}'


# -- JSON Schema -----------------------------------------------------------------------------------


def definition(cls: type) -> dict[str, Any]:
    """Return the schema of one class."""
    schema: dict[str, Any] = ROLE.json_schema()["$defs"][cls.__name__]
    return schema


def test_the_schema_lists_the_classes_by_tag() -> None:
    """A discriminator maps each tag to its class."""
    schema = ROLE.json_schema()
    assert schema["discriminator"] == {
        "propertyName": "do",
        "mapping": {
            "hire": "#/$defs/Hire",
            "assign_all": "#/$defs/AssignAll",
            "wait": "#/$defs/Wait",
        },
    }
    assert definition(Wait)["properties"] == {"do": {"enum": ["wait"]}}
    assert json.loads(json.dumps(schema)) == schema


def test_the_schema_holds_the_texts_of_the_docstring() -> None:
    """The lines of one attribute are joined; other sections are left out."""
    assert definition(Hire)["description"] == "Hire a person."
    properties = definition(Hire)["properties"]
    assert properties["name"]["description"] == "Two to five small letters."
    assert properties["days"]["description"] == "Notice in days, 0 to 99."
    assert "description" not in properties["share"]
    assert "undocumented_later" not in properties


def test_the_schema_holds_the_bounds_of_attrs_validators() -> None:
    """One entry for each validator that JSON Schema can express."""
    properties = definition(Hire)["properties"]
    name, days, share = (properties[key] for key in ("name", "days", "share"))
    assert (name["minLength"], name["maxLength"]) == (2, 5)
    assert name["pattern"] == "^(?:[a-z]+)$"
    assert (days["minimum"], days["exclusiveMaximum"], days["default"]) == (0, 100, 7)
    assert share["anyOf"][0] == {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
    assert share["anyOf"][1] == {"type": "null"}
    assert properties["grade"]["enum"] == ["a", "b"]
    # Those of a set in an order that is the same in all processes.
    assert properties["team"]["anyOf"] == [{"enum": ["blue", "red"]}, {"type": "null"}]
    assert properties["past"]["maxItems"] == 3
    assert definition(Place)["properties"]["floor"]["minimum"] == 0
    assert definition(Hire)["required"] == ["do", "name"]
    assert definition(Hire)["additionalProperties"] is False


@pytest.mark.parametrize(
    ("kind", "validator", "good", "bad"),
    [
        (int, [ge(0.5), le(1e9)], 1, 0),
        (int, le(math.inf), 10**30, None),
        (int, is_even, 2, 3),
    ],
    ids=stable,
)
def test_what_json_schema_cannot_express_attrs_checks(
    kind: Any, validator: Any, good: Any, bad: Any
) -> None:
    """Every validator runs, whether or not the schema holds it."""
    cls = make_class("Odd", {"x": field(type=kind, validator=validator)}, frozen=True)
    assert Codec(cls).json_schema()["$defs"]["Odd"]["required"] == ["do", "x"]
    assert Codec(cls).read({"do": "odd", "x": good}) == cls(good)
    with pytest.raises(WrongAction, match="Odd"):
        Codec(cls).read({"do": "odd", "x": bad})


# -- plain values ----------------------------------------------------------------------------------


@frozen(kw_only=True)
class Firm:
    """Parameters of a model."""

    staff: int = field(default=3, validator=ge(1))
    rates: tuple[float, ...] = (0.5,)
    office: Place = Place(1)
    terms: Fixed | Hourly = field(factory=lambda: Fixed(1.0))
    level: Level = Level.JUNIOR
    code: str = field(default="A", converter=str.upper)
    _seed: int = 0
    total: int = field(init=False, default=9)


def test_parameters_survive_plain_values() -> None:
    """Unions are tagged, private fields have the constructor's names, derived ones are left out."""
    firm = Firm(staff=4, rates=(0.1, 0.2), terms=Hourly(2.0), level=Level.SENIOR, code="b", seed=7)
    plain = to_plain(firm)
    assert plain == {
        "staff": 4,
        "rates": [0.1, 0.2],
        "office": {"floor": 1, "room": 0},
        "terms": {"do": "hourly", "rate": 2.0, "hours": []},
        "level": "senior",
        "code": "B",
        "seed": 7,
    }
    assert from_plain(json.loads(json.dumps(plain)), Firm) == firm
    assert json.loads(encode(firm)) == plain


def test_a_subclass_that_adds_nothing_is_written_as_its_parent() -> None:
    """Also as a model or an action."""

    class Shop(Firm):
        pass

    class Rest(Wait):
        pass

    class Move(Place):
        pass

    assert from_plain(to_plain(Shop(staff=9)), Shop) == Shop(staff=9)
    assert to_plain(Shop()) == to_plain(Firm())
    assert Codec(Rest).take(Rest()) == (Rest(), b'{"do":"rest"}')
    assert Codec(Move).take(Move(1)) == (Move(1), b'{"do":"move","floor":1,"room":0}')
    assert isinstance(Codec(Move).read({"do": "move", "floor": 1}), Move)


@pytest.mark.parametrize(
    ("value", "kind", "says"),
    [
        ({"staff": 0}, Firm, r"Expected `int` >= 1 - at `params\.staff`"),
        ({"rates": [0.1, math.nan]}, Firm, r"not a finite number - at `params\.rates\[1\]`"),
        ([], Firm, "Expected `object`, got `array` - at `params`"),
    ],
    ids=lambda value: stable(value)[:40],
)
def test_plain_values_that_do_not_fit_name_the_path(value: Any, kind: Any, says: str) -> None:
    """The path starts with what the caller calls the whole."""
    with pytest.raises(SchemaError, match=says):
        from_plain(value, kind, "params")


def test_a_validator_deep_inside_is_named_with_its_path() -> None:
    """A validator names its field, and the error adds the path."""
    even, odd = {"task": 1, "pairs": [2]}, {"task": 1, "pairs": [3]}
    with pytest.raises(SchemaError, match=r"^pairs=3 is odd - at `\$\[1\]`$"):
        from_plain([even, odd], list[AssignAll])
    with pytest.raises(SchemaError, match=r"^pairs=3 is odd - at `\$\.a`$"):
        from_plain({"a": odd}, dict[str, AssignAll])


# -- there and back --------------------------------------------------------------------------------

finite = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@frozen
class Flat:
    """Only scalars."""

    n: int
    x: float
    s: str
    b: bool
    either: int | float
    maybe: str | None = None


flat = st.builds(
    Flat,
    st.integers(),
    finite,
    texts,
    st.booleans(),
    st.integers(-(2**53), 2**53) | finite,
    st.none() | texts,
)


places = st.builds(Place, st.integers(0, 2**63), st.integers())
terms = st.builds(Fixed, finite) | st.builds(Hourly, finite, st.lists(st.integers()).map(tuple))
hires = st.builds(
    Hire,
    st.from_regex("[a-z]{2,5}", fullmatch=True),
    days=st.integers(0, 99),
    share=st.none() | st.floats(0, 1, exclude_min=True),
    grade=st.sampled_from("ab"),
    team=st.sampled_from([None, "red", "blue"]),
    place=st.none() | places,
    terms=st.none() | terms,
    past=st.lists(places, max_size=3).map(tuple),
)
assigned = st.builds(
    AssignAll, st.integers(), texts, st.lists(st.integers().map(lambda n: 2 * n), max_size=4)
)


@given(flat | hires | assigned | st.just(Wait()))
def test_instances_come_back_equal(action: Any) -> None:
    """From JSON and plain values, with types and signs of zero; an object gives the same bytes."""
    role = codec(type(action))
    kept, wire = role.take(action)
    assert kept == role.read(wire) == action
    assert repr(kept) == repr(role.read(wire)) == repr(action)
    assert role.take(msgspec.json.decode(wire)) == (action, wire)
    assert from_plain(to_plain(action), type(action)) == action


@given(st.recursive(st.none() | st.booleans() | finite | texts, st.lists, max_leaves=6))
def test_anything_else_is_refused_with_our_error(junk: Any) -> None:
    """No JSON value raises another exception."""
    for given_ in (junk, {"do": junk}, {"do": "hire", "name": junk}, encode(junk)):
        try:
            assert ROLE.read(given_) is not None
        except WrongAction as refused:
            assert "expected Hire" in str(refused)  # noqa: PT017 (some junk may fit)


# -- numpy scalars ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "kept"), [(np.int64(4), 4), (np.float64(4.5), 4.5), (np.float32(2), 2.0)]
)
def test_policies_may_compute_with_numpy(given: Any, kept: float) -> None:
    """The record and the process receive Python's number."""
    action, wire = codec(Hourly).take(Hourly(given))
    assert (action.rate, type(action.rate)) == (kept, float)
    assert msgspec.json.decode(wire) == {"do": "hourly", "rate": kept, "hours": []}


@pytest.mark.parametrize("given", [np.array([1, 2]), np.bool_(1), np.float64("nan"), 1j])
def test_not_everything_of_numpy_is_a_number(given: Any) -> None:
    """Arrays, truth values and nan are refused."""
    with pytest.raises(WrongAction, match="Hourly"):
        codec(Hourly).take(Hourly(given))
