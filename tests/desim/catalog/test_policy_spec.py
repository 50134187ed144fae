"""A spec is a name and arguments, whose values may hold commas in quotes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desim.catalog.policy_spec import Spec
from desim.errors import UsageError

VALUES = st.text(alphabet='ab, ="', max_size=8).map(str.strip)


@given(st.dictionaries(st.sampled_from("xyz"), VALUES))
def test_every_value_can_be_written(arguments: dict[str, str]) -> None:
    """The text of a spec is read as an equal spec."""
    spec = Spec("script", arguments)
    assert Spec.read(str(spec)) == spec


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('script,file="a,b.jsonl",x=1', {"file": "a,b.jsonl", "x": "1"}),
        ('script,x="say ""hi"""', {"x": 'say "hi"'}),
        ('script,x=6" pipe', {"x": '6" pipe'}),
    ],
)
def test_a_quoted_value_may_hold_commas(text: str, arguments: dict[str, str]) -> None:
    """A quote inside is doubled; one elsewhere is a character like others."""
    assert Spec.read(text).arguments == arguments


@pytest.mark.parametrize("text", ["", "a,", "a,,b=1", "a,b", "a,b=1,b=2"])
def test_other_texts_are_refused(text: str) -> None:
    """They have no name, or an argument is not KEY=VALUE or is given twice."""
    with pytest.raises(UsageError):
        Spec.read(text)
