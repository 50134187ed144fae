"""Where `regret` keeps the decisions that it has judged, and what determines a judgement."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from desim.core.limits import Limits
from desim.episodes.futures.past import Past
from desim.episodes.lineup import Policies
from desim.errors import UsageError
from desim.jobs.keep.checkpoint import Checkpoint
from desim.jobs.keep.fingerprint import code_topics, inside, limits_text, players, text_digest
from desim.jobs.keep.store import MemoryStore, Store, SweepWarning
from desim.schema import tagged, to_plain
from desim.studies.decisions.judge import Judge, Judged


class RegretCheckpoint(Checkpoint):
    """Keeps a row for each judged decision, by its number."""

    file_name: ClassVar[str] = "regret.sqlite"
    results: ClassVar[tuple[str, ...]] = ()
    command: ClassVar[str] = "comparison"
    row_of: ClassVar[str] = "decision"


def opened_store(
    out: str | Path | None, topics: Mapping[str, str], *, restart: bool = False
) -> Store:
    """Open the store of judged decisions.

    Args:
        out: The folder of the checkpoint; None keeps them in memory.
        topics: What determines them, see `identity`.
        restart: Discard those of an existing checkpoint.

    Warns:
        SweepWarning: Rows were damaged or discarded.

    Raises:
        UsageError: The folder cannot be used, another process writes it, or it holds another
            comparison.
    """
    if out is None:
        if restart:
            raise UsageError("restart needs the folder of an earlier comparison; give out")
        return MemoryStore()
    store = RegretCheckpoint(out, topics, lambda _at, row: _is_row(row), restart=restart)
    if store.discarded:
        _warn(f"{store.path}: {store.discarded:,} decisions were discarded")
    if store.damaged:
        _warn(f"{store.path} was damaged; what cannot be read is played again")
    return store


def identity(
    past: Past,
    then: Mapping[str, Any],
    against: Policies,
    named: Mapping[str, str],
    *,
    texts: bool,
) -> dict[str, str]:
    """Return what determines how a decision of a record is judged, by topic.

    Which decisions are judged is not part of it: a folder may receive further ones.

    Args:
        past: The record, with observations.
        then: Policies of all roles that play on.
        against: Policies with which decisions are compared; None for options.
        named: Arguments as texts.
        texts: Whether files that the model's parameters name count. Those of a record that is not
            trusted are not opened.

    Raises:
        UsageError: A source file or a named file cannot be read.
    """
    header = past.header
    decisions = [[one.t, one.role, msgspec.Raw(tagged(one.action))] for one in past.moments]
    # Futures as texts, like the seeds: a seed may have more digits than JSON readers take.
    begun = [str(header.seed), [list(map(str, each)) for each in header.futures], decisions]
    model = [type(past.model).__qualname__, to_plain(past.model), [*header.policies]]
    of_model = (one for one in inside(past.model) if texts or not isinstance(one, str))
    of_policies = (one for given in (then, against) for one in players(past.model, given))
    return {
        "record": text_digest(msgspec.json.encode(begun)),
        "model": text_digest(msgspec.json.encode(model)),
        **named,
        "limits": limits_text(past.limits or Limits()),
        **code_topics([Judge, *of_model, *of_policies]),
    }


def _is_row(row: bytes) -> bool:
    try:
        msgspec.json.decode(row, type=Judged)
    except msgspec.DecodeError:
        return False
    return True


def _warn(text: str) -> None:
    warnings.warn(text, SweepWarning, stacklevel=4)
