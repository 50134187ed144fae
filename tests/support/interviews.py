"""A small case, and interviews in which every seat says what a test gives it."""

from collections.abc import Mapping, Sequence
from typing import Any

from desim import Run
from models.consulting import Case, Consulting, Fact, Reply, Say, Verdict

#: Two facts, and an internal part that repeats neither.
BAKERY = Case(
    id="bakery",
    title="A bakery's second oven",
    length="short",
    opening="A bakery asks whether it should buy a second oven.",
    open="It sells bread to shops.",
    gated=(
        Fact("oven price", "A new one is 9,000 crowns including the delivery."),
        Fact("night shift", "Two bakers would have to begin at two in the morning."),
    ),
    internal="The answer is to buy it at once because demand is far above what can be baked.",
)


def held(
    said: Mapping[str, Sequence[str]],
    verdicts: Sequence[Verdict] = (),
    *,
    seed: int = 0,
    seats: Sequence[str] = (),
    **params: Any,
) -> Run:
    """Hold an interview and return the ended run.

    Args:
        said: Messages of the interviewer and the candidate in order; a side that has no more says
            "go on". An interviewer without messages follows the rules.
        verdicts: One a judge; without any, the judges follow the rules.
        seed: The seed.
        seats: The roles that are answered; empty: those for which there is something to say.
        params: Parameters; without `cases` the bakery is the only case.
    """
    model = Consulting(**{"cases": (BAKERY,), **params})
    judges = dict(zip(model.judge_roles, verdicts, strict=False))
    left = {role: list(texts) for role, texts in said.items()}
    run = Run(model, seed, seats=seats or ["candidate", *(set(said) - {"candidate"}), *judges])
    while decisions := run.advance():
        for decision in decisions:
            run.answer(decision, judges.get(decision.role) or _next(decision.role, left))
    return run


def _next(role: str, left: dict[str, list[str]]) -> Say | Reply:
    texts = left.get(role)
    text = texts.pop(0) if texts else "go on"
    return Say(text) if role == "interviewer" else Reply(text)
