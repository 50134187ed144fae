"""Scoring on stored predictions: the router, single methods, the oracle, and leakage."""

from collections.abc import Sequence

import pytest
from attrs import define, field
from rich.console import Console
from support.router_items import METHODS, Asked, item, items, lesson, rules

from desim.errors import UsageError
from policies.llm.router import (
    Chooser,
    Comparison,
    Item,
    Policy,
    Prediction,
    RuleChooser,
    Situation,
    compare,
    evaluate,
    learn,
    router_table,
    split,
    table_4,
    tallied,
)
from policies.llm.router.evaluation import router_lines


@define
class Always:
    """A chooser that always takes one method and keeps what it was shown."""

    method: str
    seen: list[Situation] = field(factory=list)

    def choose(self, situation: Situation, /) -> str:
        """Return the method."""
        self.seen.append(situation)
        return self.method


FOUR = [
    item("a", ["ace", "cot"], capability="A"),
    item("b", ["cot"], capability="A"),
    item("c", ["cot"], capability="A"),
    item("d", ["gepa"], capability="B", bucket="hard"),
]


def test_accuracies_are_shares_of_right_choices() -> None:
    """The router's, each method's, the oracle's; the mean of cells weighs small cells as large."""
    scored = evaluate(FOUR, Always("ace"))
    assert (scored.accuracy().mean, scored.accuracy().n) == (0.25, 4)
    assert [sum(scored.method_right(name)) for name in METHODS] == [1, 3, 1]
    assert scored.accuracy(scored.oracle_right).mean == 1
    assert scored.best_method == "cot"
    assert scored.gain().mean == -0.5
    assert scored.cell_mean() == pytest.approx((1 / 3 + 0) / 2)
    assert scored.cell_mean(scored.method_right("gepa")) == 0.5
    assert (scored.choices, scored.left_out) == ({"ace": 4}, 0)


def test_only_items_with_every_method_count() -> None:
    """The others are counted; with fewer methods compared, fewer are left out."""
    part = item("e", predictions={"cot": Prediction(correct=True)})
    scored = evaluate([*FOUR, part], Always("cot"))
    assert (len(scored.items), scored.left_out, scored.accuracy().mean) == (4, 1, 0.75)
    scored = evaluate([*FOUR, part], Always("cot"), ["cot"])
    assert (len(scored.items), scored.left_out, scored.methods) == (5, 0, ("cot",))
    assert scored.accuracy(scored.oracle_right).mean == 0.8


def test_a_method_without_records_is_wrong() -> None:
    """Such as a default that nobody ran; it is no error, as its choice is the router's fault."""
    scored = evaluate(FOUR, Always("amem"))
    assert scored.accuracy().mean == 0


def test_of_equally_good_methods_the_first_by_name_is_the_best() -> None:
    """Whatever the order of predictions in the file."""
    predictions = {name: Prediction(correct=True) for name in ("cot", "ace")}
    assert evaluate([item("a", predictions=predictions)], Always("cot")).best_method == "ace"


def test_a_chooser_sees_situations_alone() -> None:
    """No prediction and no gold answer."""
    chooser = Always("cot")
    evaluate([item("a", ["cot"], gold="GOLD", question="Q")], chooser)
    assert chooser.seen == [Situation.of("Q", "", task="finer")]


def test_items_that_cannot_be_scored_are_an_error() -> None:
    """None at all, none with every method, a method that nobody has."""
    apart = [item(name, predictions={name: Prediction(correct=True)}) for name in ("x", "y")]
    for made in ([], apart, [item("a", predictions={})]):
        with pytest.raises(UsageError, match="prediction of every method"):
            evaluate(made, Always("cot"))
    with pytest.raises(UsageError, match="no item has a prediction of 'act'"):
        evaluate(FOUR, Always("cot"), ["act"])


def test_the_policy_of_table_4_routes_stored_items() -> None:
    """Its rules over labels and features, its default elsewhere."""
    names = ("ace", "amem", "discussion", "dynamic_cheatsheet", "gepa")
    nine = {name: Prediction(name == "ace") for name in names}
    labels = (
        ("Information Extraction", None, "| 1 |", "dynamic_cheatsheet"),
        ("Information Extraction", None, "1", "gepa"),
        ("Domain Knowledge", "hard", "", "ace"),
        ("Domain Knowledge", "easy", "", "amem"),
        ("Numerical Calculation", "easy", "def f", "gepa"),
        ("Complex Reasoning", "middle", "", "discussion"),
        ("Complex Reasoning", None, "", "gepa"),
    )
    made = [
        item(str(n), predictions=nine, capability=one, bucket=bucket, question="q", context=text)
        for n, (one, bucket, text, _) in enumerate(labels)
    ]
    scored = evaluate(made, RuleChooser(table_4(), names))
    assert scored.chosen == tuple(each[-1] for each in labels)


# -- rules by counting -----------------------------------------------------------------------------


def test_counting_finds_the_best_method_of_every_cell() -> None:
    """And of all items by default; a small cell has no rule."""
    policy = tallied(items(60))
    chosen = {
        (rule.when["capability"], rule.when["difficulty_bucket"]): rule.choose
        for rule in policy.rules
        if rule.when
    }
    assert chosen == {
        ("Information Extraction", "ALL"): "cot",
        ("Domain Knowledge", "easy"): "gepa",
        ("Domain Knowledge", "hard"): "ace",
    }
    assert policy.remarks(METHODS) == []
    assert tallied(items(60)[::-1]) == policy
    assert tallied(items(60), least=21).rules == ()
    assert tallied(FOUR) == Policy(default="cot")
    assert tallied([]) == Policy()


# -- leakage ---------------------------------------------------------------------------------------


def remembers(made: Sequence[Item]) -> Chooser:
    """Learn by heart: a router that knows the answers to the questions it has seen."""
    known = {each.question: name for each in made for name in METHODS if _right(each, name)}

    @define
    class Parrot:
        def choose(self, situation: Situation, /) -> str:
            return known.get(situation.question, "cot")

    return Parrot()


def _right(made: Item, name: str) -> bool:
    return made.predictions[name].correct


def counted(made: Sequence[Item]) -> Chooser:
    """Learn by counting."""
    return RuleChooser(tallied(made, least=5), METHODS)


def test_a_router_that_learns_by_heart_is_found_out() -> None:
    """Perfect on the items it has seen, no better than its default on others."""
    learned, test = split(items(60))
    found = compare(remembers, learned, test)
    assert found.as_published.accuracy().mean == 1
    assert found.leakage_free.gain().mean <= 0
    assert found.leakage_free.choices == {"cot": len(test)}
    assert found.learned_on == len(learned) == 30


def test_a_router_that_learns_kinds_keeps_its_figure() -> None:
    """Both are scored on the same items, so methods and oracle are the same."""
    found = compare(counted, *split(items(300)))
    assert found.as_published.items == found.leakage_free.items
    assert found.leakage_free.accuracy().mean == found.as_published.accuracy().mean > 0.7
    assert found.leakage_free.gain().mean > 0.3


def test_an_item_on_both_sides_is_an_error() -> None:
    """Before anything is learned."""
    with pytest.raises(UsageError, match="learned from and scored on"):
        compare(remembers, items(4), items(6))


def test_both_ways_of_learning_by_a_model() -> None:
    """The model is asked for lessons of either side, and never for those of the other."""

    def script(request: str) -> str:
        ace = {"when": {"difficulty_bucket": "hard"}, "choose": "ace", "confidence": "high"}
        return rules(ace) if "You write the rules" in request else lesson()

    learned_on, test = split(items(24))
    model = Asked(script)
    found = compare(lambda made: RuleChooser(learn(made, model).policy, METHODS), learned_on, test)
    assert len(model.requests) == 2 * (12 * 3 + 1)
    half = len(model.requests) // 2
    for side, requests in ((test, model.requests[:half]), (learned_on, model.requests[half:])):
        shown = {
            each.question for each in items(24) if any(f'"{each.question}"' in r for r in requests)
        }
        assert shown == {each.question for each in side}
    assert found.leakage_free.choices.keys() == {"ace", "cot"}


# -- the table -------------------------------------------------------------------------------------


def printed(found: Comparison) -> str:
    """Return the table as a console prints it."""
    console = Console(width=200, color_system=None)
    with console.capture() as capture:
        console.print(router_table(found))
    return capture.get()


def test_the_table_shows_both_figures_side_by_side() -> None:
    """Router, methods from the best to the worst, oracle, and the paired difference."""
    with_part = [*FOUR, item("e", predictions={})]
    both = (evaluate(with_part, Always("cot")), evaluate(with_part, Always("gepa")))
    found = Comparison(*both, learned_on=10)
    cot = ["0.750", "[0.301, 0.954]", "0.500"]
    gepa = ["0.250", "[0.046, 0.699]", "0.500"]
    ace = ["0.250", "[0.046, 0.699]", "0.167"]
    assert router_lines(found) == [
        ["router", *cot, *gepa],
        ["cot", *cot, *cot],
        ["ace", *ace, *ace],
        ["gepa", *gepa, *gepa],
        ["oracle", *["1.000", "[0.510, 1.000]", "1.000"] * 2],
        ["router - cot", "+0.000", "[+0.000, +0.000]", "", "-0.500", "[-2.091, +1.091]", ""],
    ]
    text = printed(found)
    assert "4 items scored, 1 without every method left out" in text
    assert "learned on 10 others" in text
    assert "router - cot" in text
