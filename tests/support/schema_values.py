"""Hypothesis strategies of the plain values that a JSON Schema describes."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

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
