"""The same router twice: learned on the items that it is scored on, as published, and on others.

Source: reference SPEC of FirmBench, section 8: the paper's rules were learned and scored on the
same test items. Both figures here are scored on the same items; their difference is the leakage.
"""

from collections.abc import Callable, Sequence

from attrs import frozen

from policies.llm.router.evaluation import Evaluation, evaluate
from policies.llm.router.predictions import Item, require_disjoint
from policies.llm.router.routing import Chooser

__all__ = ["Comparison", "Learner", "compare"]

#: Makes a chooser of items with predictions.
Learner = Callable[[Sequence[Item]], Chooser]


@frozen
class Comparison:
    """Two evaluations on the same items.

    Attributes:
        as_published: Learned on the items scored.
        leakage_free: Learned on other items.
        learned_on: The number of those.
    """

    as_published: Evaluation
    leakage_free: Evaluation
    learned_on: int


def compare(
    learner: Learner, learn: Sequence[Item], test: Sequence[Item], methods: Sequence[str] = ()
) -> Comparison:
    """Learn on either side, and score both routers on the test items.

    Args:
        learner: Called twice, first with the test items.
        learn: Items of the training split, or the first part that `split` returns.
        test: Items scored.
        methods: The methods compared; all that have a record in the test items where empty.

    Raises:
        UsageError: An item is on both sides, or the test items cannot be scored.
    """
    require_disjoint(learn, test)
    as_published = evaluate(test, learner(test), methods)
    leakage_free = evaluate(test, learner(learn), methods)
    return Comparison(as_published, leakage_free, len(learn))
