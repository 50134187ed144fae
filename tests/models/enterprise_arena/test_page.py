"""The world's page: its parameters and the published numbers on it are those of code and data."""

import json
from typing import Any

from attrs import fields_dict
from support.arena import played
from support.paths import ROOT

from desim.suites.published import FIGURES
from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.score import metrics
from models.enterprise_arena.series import series

PAGE = (ROOT / "models" / "enterprise_arena" / "README.md").read_text(encoding="utf-8")


def test_the_page_names_every_metric_and_series() -> None:
    """In a row of its tables."""
    lender = played(EnterpriseArena(horizon=1))
    missing = [name for name in {**metrics(lender), **series(lender)} if f"`{name}`" not in PAGE]
    assert missing == []


def test_the_page_lists_what_presets_change() -> None:
    """Every parameter in which two presets differ is a row, in the order of the presets."""
    models = [EnterpriseArena.preset(name) for name in EnterpriseArena.presets]
    names = list(fields_dict(EnterpriseArena))
    differ = {n for n in names if len({repr(getattr(model, n)) for model in models}) > 1}
    head = " | ".join(f"`{name}`" for name in EnterpriseArena.presets)
    table = PAGE[PAGE.index(f"| parameter | {head} |") :].split("\n\n")[0].splitlines()[2:]
    assert {line.split("`")[1] for line in table} == differ


def test_published_numbers_on_the_page_are_those_of_the_data() -> None:
    """The contradictions quote the paper's statements and tables."""
    data = json.loads((FIGURES / "enterprise_arena.json").read_text())
    page = PAGE[PAGE.index("## Contradictions inside the paper") :]
    average = data["derived_checks"]["average_row"]
    peaks = [_cell(data, row["label"], "peak_cash")["value"] for row in _models(data)]
    quoted = [
        f"{_statement(data, 'survival_all_runs')} of all model runs",
        f"{average['survival_pct']['printed_average']} in the average row",
        f"the models alone give {average['survival_pct']['mean_of_llms_only']:.1f}%",
        f"survives in {_cell(data, 'Gemini-3.1-Pro', 'survival_pct')['printed']} of 5 runs",
        f"count {_cell(data, 'Human', 'months_survived')['value']}",
        f"{_cell(data, 'DeepSeek-V3.1', 'book_closing_pct')['printed']}% of its actions",
        f"mean peak cash of a model is {min(peaks)} million",
    ]
    assert [text for text in quoted if text not in page] == []


def _models(data: Any) -> list[Any]:
    rows = data["tables"]["table_2"]["rows"]
    return [row for row in rows if row["label"] not in ("Human", "Average")]


def _cell(data: Any, label: str, column: str) -> Any:
    (row,) = [each for each in data["tables"]["table_2"]["rows"] if each["label"] == label]
    return row["values"][column]


def _statement(data: Any, name: str) -> Any:
    (found,) = [each for each in data["text_statements"] if each["id"] == name]
    return found["printed"]
