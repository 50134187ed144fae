"""The digest of a prompt is one for all episodes of a prompt, and another for another prompt."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import define
from support.scripted import player, seat_of, worded

from desim import Episode, catalog, play
from desim.jobs.keep.outcome import read_outcome
from desim.jobs.keep.prompt_digest import prompt_digest
from desim.records.conversation import text_id
from desim.records.lines import Header, Step, TranscriptEntry
from models.beer_game import BeerGame

WORLDS = ("beer_game", "consulting", "edt", "enterprise_arena", "reasoning", "yc_bench")


@define
class Stops(BaseException):
    """Ends the episode behind its first request."""


@pytest.mark.parametrize("world", WORLDS)
def test_it_is_the_same_for_all_seeds(world: str, tmp_path: Path) -> None:
    """Also where the prompt names what is drawn, such as the case of an interview."""
    digests = {digest_of_begun(world, seed, tmp_path / f"{seed}") for seed in range(5)}
    assert len(digests) == 1
    assert len(digests.pop()) == 16


def digest_of_begun(world: str, seed: int, file: Path, **options: Any) -> str:
    """Return the digest of a cut episode in which one decision was made."""
    model = catalog.model(world)
    role = "candidate" if world == "consulting" else next(iter(model.roles))
    calls: Iterator[int] = iter(range(1_000))

    def reply(_: int) -> Any:
        if next(calls) > 5:
            raise Stops
        return worded("...")

    llm, _ = player(seat_of(model, role), reply, **options)
    others = {} if world != "consulting" else {"interviewer": "scripted", "judge": "rubric"}
    with contextlib.suppress(Stops):
        play(model, {role: llm, **others}, seed=seed, record=file)
    return prompt_digest(Episode.read(file, whole=False))


def test_other_words_tools_and_forms_give_another(tmp_path: Path) -> None:
    """The arguments of the policy that change none of them do not count."""
    digests = [
        digest_of_begun("beer_game", 0, tmp_path / f"{number}", **options)
        for number, options in enumerate(({}, {"mode": "tools"}, {"mode": "json"}, {"retries": 1}))
    ]
    assert digests[0] == digests[3]
    assert len({*digests}) > 1
    assert digests[1] not in (digests[0], "")


def test_numbers_observed_words_and_what_was_learned_do_not_count() -> None:
    """A text with an observed word is not compared; the case "on" is no word of "one"."""
    first = asked("Week 3 of one year.", {"case": "on", "week": 3})
    assert first == asked("Week 4 of one year.", {"case": ["two"], "week": 4})
    assert first != asked("Week 3 of two years.", {"case": "on", "week": 3})
    cases = [asked(f"Case {case} of one year.", {"case": case}) for case in ("on", "two")]
    assert cases[0] == cases[1] != first
    learned = [asked(text, {}, {"learned": {}}) for text in ("Advice: sell", "Advice: buy")]
    assert learned[0] == learned[1] not in (first, "")


def asked(text: str, observation: Any, *before: Any) -> str:
    """Return the digest of an episode whose first request has a system's text."""
    told = {"role": "system", "content": text}
    request = {"request": 1, "digest": "d", "messages": [text_id(told)]}
    entries = [*before, {"texts": {text_id(told): told}}, request]
    step = Step(0, "a", observation, {})
    transcript = tuple(TranscriptEntry(entry, "a") for entry in entries)
    return prompt_digest(Episode(Header.of(BeerGame(), 0, {}), (step,), None, transcript))


def test_an_episode_without_requests_has_none(tmp_path: Path) -> None:
    """Neither that of a rule, nor one of format 3, whose requests have no texts."""
    play("beer_game", "base_stock", record=tmp_path / "a")
    outcome = read_outcome("a", tmp_path / "a")
    assert outcome is not None
    assert outcome.prompt == ""
    assert len(outcome.code) == 16
