"""Parts of methods return what those of the published code return."""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import pytest
from support.method_traces import (
    Replayed,
    asking,
    built,
    compare_notes,
    runs,
    sixty_four,
)

from policies.llm.methods import similar
from policies.llm.methods.amem import AgenticMemory
from policies.llm.methods.dynamic_cheatsheet import sheet_in
from policies.llm.methods.evolution import best_of, leaders, mean, prompts_in
from policies.llm.methods.gepa import Gepa, query
from policies.llm.methods.items import Outcome, Past, Setting
from policies.llm.methods.notes import BadNote
from policies.llm.methods.playbook import (
    abbreviation,
    add,
    cited_ids,
    object_in,
    operations_in,
    statistics,
    tags_in,
    with_tags,
)
from policies.llm.wires.wire import ModelReply


def cases(run: Mapping[str, Any], *pairs: tuple[Any, str]) -> None:
    """Compare functions of a case with its fields."""
    for case in run["cases"]:
        for function, key in pairs:
            assert function(case) == case[key], case


def component_operations(run: Mapping[str, Any]) -> None:
    """Lines added to a playbook."""
    for case in run["cases"]:
        operations = operations_in(json.dumps({"operations": case["operations"]}))
        assert operations is not None
        text, next_id = add(case["playbook"], operations, case["next_id"])
        assert (text, next_id) == (case["result"], case["next_id_after"])
        assert statistics(text) == case["statistics"]


def component_counter_update(run: Mapping[str, Any]) -> None:
    """Counters raised."""
    for case in run["cases"]:
        text = with_tags(case["playbook"], case["tags"])
        assert text == case["result"]
        assert statistics(text) == case["statistics"]


def component_memory(run: Mapping[str, Any]) -> None:
    """Notes added and retrieved."""
    rebuilt = [case["evolutions"] for case in run["cases"] if case.get("rebuilt")]
    replies: list[str] = []
    memory = built(
        AgenticMemory,
        complete=lambda *_, **__: ModelReply(replies.pop(0)),
        as_published=True,
        every=min(rebuilt, default=100),
    )
    for case in run["cases"]:
        if case["step"] == "retrieve":
            search = partial(memory.memory.retrieved, as_published=True)
            wanted = case.get("notes_in_order_with_linked_ones")
            with lost_if(case):
                assert search(case["query"], case["k"]) == wanted
            continue
        replies[:] = [case["analysis_reply"], case["evolution_reply"]]
        with lost_if(case):
            memory.add(case["content"], case["meta"])
        compare_notes(memory, case["notes_after"])
        assert list(memory.memory.indexed) == case["indexed_texts_after"]
        assert memory.memory.evolutions == case["evolutions"]


def lost_if(case: Mapping[str, Any]) -> AbstractContextManager[Any]:
    """Return a context that expects a lost note where the published code raises."""
    return pytest.raises(BadNote) if "raises" in case else nullcontext()


def component_selection(run: Mapping[str, Any]) -> None:
    """Candidates worth another try."""
    for case in run["cases"]:
        kept, weights = leaders(case["scores"])
        assert kept == case["kept"]
        assert weights == pytest.approx(case["weights"], rel=1e-12)


def style_search(run: Mapping[str, Any]) -> None:
    """The style with the highest mean is chosen, the first one among equals, for all cases."""
    setting = Setting(task="interview")
    method = built(Gepa, complete=Replayed([]), setting=setting, trials=run["search_cases"])
    used = []
    for score in run["overall_scores_given_by_judge_in_order"]:
        used.append(method._style())
        method.learn_episode(Past(outcome=Outcome(score=score)))
    means = run["mean_overall_of_candidates"]
    assert used == [
        *(style for style in range(len(means)) for _ in range(run["search_cases"])),
        *[run["chosen_candidate"]] * run["cases"],
    ]
    assert best_of(means) == run["chosen_candidate"]
    tried = [mean(scores[: run["search_cases"]]) for scores in method.memory.tried]
    assert tried == means


COMPONENTS = {
    "component_operations": component_operations,
    "component_counter_update": component_counter_update,
    "component_memory": component_memory,
    "component_selection": component_selection,
    "component_json_from_text": lambda run: cases(
        run, (lambda case: object_in(case["text"]), "object")
    ),
    "component_tags_of_reflector": lambda run: cases(
        run, (lambda case: tags_in(case["reply"], json_mode=case["json_mode"]), "tags")
    ),
    "component_cited_ids": lambda run: cases(
        run, (lambda case: cited_ids(case["reply"], as_published=True), "cited")
    ),
    "component_section_abbreviation": lambda run: cases(
        run, (lambda case: abbreviation(case["section"]), "abbreviation")
    ),
    "component_candidate_list": lambda run: cases(
        run, (lambda case: prompts_in(case["reply"]), "prompts")
    ),
    "component_query": lambda run: cases(
        run,
        (
            lambda case: query(case["prompt"], asking(case["question"], case["context"])),
            "query",
        ),
    ),
    "component_cheatsheet_text": lambda run: cases(
        run, (lambda case: sheet_in(case["reply"], case["old"]), "cheatsheet")
    ),
    "consulting_style_search": style_search,
}


@pytest.mark.parametrize(("_", "run"), runs(components=True))
def test_a_part_of_a_method(
    _: dict[str, Any], run: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Functions of playbooks, notes, prompts and sheets, and the search for a style."""
    monkeypatch.setattr(similar, "hashed", sixty_four)
    COMPONENTS[run["id"]](run)
