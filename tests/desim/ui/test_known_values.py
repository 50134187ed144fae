"""Identifiers are chosen from the lists that observations hold."""

from typing import Any, ClassVar

import pytest
from attrs import frozen

from desim import Role, catalog
from desim.errors import WrongAction
from desim.show.column import Column
from desim.ui.forms import forms, known_values
from desim.ui.typed_texts import read_form

ROWS = [{"id": 3, "name": "Bridge"}, {"id": 5, "name": "Dam"}]


@frozen
class Sight:
    """An observation."""

    step: int = 0


@frozen
class Take:
    """Take something."""

    columns: ClassVar = {"item": Column(kind="identifier", of=("reply.rows.id",))}

    item: int


def labels(column: Column, *seen: Any) -> list[str]:
    """Return the labels of the known values."""
    return [each.label for each in known_values(column, seen)]


def test_a_list_of_identifiers_or_of_records_is_found() -> None:
    """A record is labelled with its first other text."""
    assert labels(Column(of=("planned",)), {"planned": ["a", "b"]}) == ["a", "b"]
    assert labels(Column(of=("reply.rows.id",)), {"reply": {"rows": ROWS}}) == [
        "3 · Bridge",
        "5 · Dam",
    ]


def test_the_newest_observation_that_has_the_list_counts() -> None:
    """An empty list is one; a reply about something else has none."""
    column = Column(of=("rows.id",))
    assert labels(column, {"rows": 7}, {"rows": ROWS[:1]}, {"rows": ROWS}) == ["3 · Bridge"]
    assert labels(column, {"rows": []}, {"rows": ROWS}) == []


@pytest.mark.parametrize(
    "strange", [None, 3, [], {"rows": [1, {}]}, {"rows": {"id": 4}}, {"rows": [{"id": None}]}]
)
def test_a_strange_observation_has_no_values(strange: Any) -> None:
    """Nothing is raised."""
    assert labels(Column(of=("rows.id", "rows.id.more")), strange) == []


def test_a_value_is_typed_by_its_place_or_as_it_is() -> None:
    """The refusal lists the values."""
    (form,) = forms(Role(Sight, Take), [{"reply": {"rows": ROWS}}])
    assert read_form(form, {"item": "#2"}) == {"do": "take", "item": 5}
    assert read_form(form, {"item": "3"}) == {"do": "take", "item": 3}
    for typed, said in (("#3", "'#3' was typed"), ("", "nothing was typed")):
        with pytest.raises(WrongAction, match="Item: type #1 3 · Bridge, #2 5 · Dam") as refused:
            read_form(form, {"item": typed})
        assert str(refused.value).endswith(said)


def test_no_identifier_of_a_world_is_typed_where_its_list_is_known() -> None:
    """Tasks and people of the start-up, projects of the firm, documents of the lender."""
    founder = catalog.model("yc_bench").roles["founder"]
    reply = {"out": {"tasks": [{"task_id": "T", "client_name": "C", "requirements": []}]}}
    staff = {"out": {"employees": [{"name": "Emp_1", "tier": "junior"}]}}
    seen = [{"planned": ["P"], "active": ["A"], "reply": reply}, {"reply": staff}]
    known = {
        (form.tag, field.name): [each.label for each in field.known]
        for form in forms(founder, seen)
        for field in form.fields
        if field.column.kind == "identifier"
    }
    assert known["task_accept", "task_id"] == ["T · C"]
    assert known["task_assign", "task_id"] == ["P", "A"]
    assert known["task_assign", "employees"] == ["Emp_1 · junior"]
    assert known["task_dispatch", "task_id"] == ["P"]
    assert all(known.values())
    projects = [{"index": 0, "name": "Bridge"}]
    manager = catalog.model("edt/interactive").roles["manager"]
    accept = forms(manager, [{"projects": projects}])[0]
    assert [each.label for each in accept.field("project").known] == ["0 · Bridge"]
    documents = {"out": {"documents": [{"filename": "cap_table", "period": "start"}]}}
    cfo = catalog.model("enterprise_arena").roles["cfo"]
    lender = {form.tag: form for form in forms(cfo, [{"reply": documents}])}
    assert lender["review_financial_records"].field("filename").known[0].value == "cap_table"
    assert len(lender["check_market_data"].field("data_type").known) > 10
