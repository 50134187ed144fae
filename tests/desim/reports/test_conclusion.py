"""The first sentences of a sweep's report: the best policy, by how much, and where that changes."""

from collections.abc import Mapping

from support.sweep_rows import row

from desim import Rows, sweep
from desim.reports.sweep.conclusion import conclusion


def world(scores: Mapping[str, list[float]], weeks: int = 4) -> Rows:
    """Rows of policies on the same seeds."""
    return Rows(
        row(policy, seed, score, params={"weeks": weeks})
        for policy, each in scores.items()
        for seed, score in enumerate(each)
    )


APART = {"a": [10.0, 11, 12, 13, 11, 12] * 3, "b": [1.0, 3, 2, 4, 3, 2] * 3}
CLOSE = {"a": [10.0, 14, 9, 16, 11, 12], "b": [11.0, 12, 13, 9, 14, 11]}


def test_the_best_policy_and_its_lead_are_stated() -> None:
    """With intervals, and the number of seeds that both have played."""
    first, second = conclusion({"": world(APART)}, {})
    assert first.startswith("The highest mean score is that of a: 11.50 [11.01 to 11.99].")
    assert first.endswith("is b, lower by 9.00 [8.58 to 9.42] on the same 18 seeds.")
    assert second == "No other policy may be the best (95 %)."


def test_an_open_comparison_says_how_many_seeds_would_decide_it() -> None:
    """The estimate is that of the tables, for a difference as large as the one found."""
    *_, last = conclusion({"": world(CLOSE)}, {})
    assert last.startswith("Whether a or b is better is open after 6 seeds: about ")
    assert last.endswith("seeds would decide it if the difference is as large as it seems.")


def test_a_lone_policy_has_no_rival() -> None:
    """Its mean is stated all the same."""
    (only,) = conclusion({"": world({"a": [1.0, 2, 3]})}, {})
    assert only.endswith("it has no rival in this sweep.")


def test_a_better_mean_of_a_policy_that_knows_more_is_stated() -> None:
    """With a rival or without one, and in how many worlds."""
    known = sweep("beer_game/poisson", ["sterman", "order_up_to"], range(5))
    lone, informed = conclusion({"": known}, {})
    assert lone.endswith("no other policy here knows as little.")
    assert informed.startswith("The mean of order_up_to, which knows more (rules), is better: ")
    rows = known + sweep("beer_game/poisson", "last_demand", range(5))
    first, *_, last = conclusion({"": rows}, {})
    assert first.startswith("Among the policies that know least the highest mean score is that of")
    assert last == informed
    *_, last = conclusion({"one": rows, "two": rows}, {})
    assert last == "In 2 of 2 worlds a policy that knows more has a better mean."


def test_the_parameter_at_which_the_best_policy_changes_is_stated() -> None:
    """Stretches of the parameter with one best policy, in the order of its values."""
    other = {"a": APART["b"], "b": APART["a"]}
    worlds = {"weeks=8": world(other, 8), "weeks=2": world(APART, 2), "weeks=4": world(APART, 4)}
    first, second = conclusion(worlds, {"weeks=8": 8, "weeks=2": 2, "weeks=4": 4})
    assert first == "The best policy changes with weeks: a from 2 to 4; b at 8."
    assert second == "In every world no other policy may be the best (95 %)."


def test_worlds_without_a_common_parameter_are_listed() -> None:
    """And how many of them are open."""
    other = {"a": APART["b"], "b": APART["a"]}
    worlds = {"one": world(APART), "two": world(other), "three": world(CLOSE)}
    first, second = conclusion(worlds, {})
    assert first == "The best policy differs between worlds: a at one; b at two; a at three."
    assert second.startswith("In 1 of 3 worlds another policy may be as good; about ")


def test_one_policy_may_be_best_everywhere() -> None:
    """Then the sentence names it once."""
    first, _ = conclusion({"one": world(APART), "two": world(APART, 8)}, {})
    assert first == "a has the highest mean score in each of the 2 worlds."


def test_nothing_is_concluded_from_failures_alone() -> None:
    """A mean without the bad episodes proves nothing."""
    assert list(conclusion({"": Rows([row("a", 1, None), row("a", 2, None)])}, {})) == []
