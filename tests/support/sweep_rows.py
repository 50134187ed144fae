"""Rows of a sweep made by hand."""

from typing import Any

from desim.rows.rows import Rows


def row(policy: str, seed: int, score: float | None, **more: Any) -> dict[str, Any]:
    """A row as a sweep makes it."""
    failed = score is None
    usual = {
        "model": "shop",
        "preset": "small",
        "params": {"weeks": 4},
        "policy": policy,
        "seed": seed,
        "score": score,
        "ended": None if failed else "horizon",
        "decisions": None if failed else 4,
        "metrics": {} if failed else {"alive": score > 10, "months": seed or None},
        "ledger_digest": None,
        "error": "PolicyFailed: tired" if failed else None,
    }
    return {**usual, **more}


SCORES = {"a,x=1": [10, 12, 17, None], "b": [9, 11, 18, 12], "c": [1, 2, 3, 4]}


def three_policies() -> Rows:
    """Three policies on four seeds; the first policy fails on the last seed."""
    return Rows(
        row(p, seed, score) for p, all_ in SCORES.items() for seed, score in enumerate(all_)
    )
