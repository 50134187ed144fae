"""An episode that was played: header, decisions, result; written to a file and read back."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, field, frozen

from desim.core.result import Result
from desim.core.series import Series
from desim.episodes.record import FailureLine, Header, Step, TranscriptEntry, parse
from desim.episodes.record_file import lines_of
from desim.episodes.recorded_steps import RecordedSteps
from desim.episodes.recorder import Recorder
from desim.errors import BadRecord

__all__ = ["Episode"]


@frozen
class Episode:
    """An episode that was played: the header, the steps, and the result.

    Attributes:
        header: Model, parameters, seed, policies.
        steps: The decisions in the order in which they were handed out. Where they were not kept
            in memory they are read from the record whenever they are used.
        result: Score, end, metrics; None for the record of a run that was killed or failed.
        transcript: What policies received between decisions, in order.
        failure: Where the model failed, and why; None if it did not.
        series: What the model reports period by period, if it was wanted; no part of the record,
            nor of a comparison of two episodes.
    """

    header: Header
    steps: Sequence[Step]
    result: Result | None
    transcript: tuple[TranscriptEntry, ...] = ()
    failure: FailureLine | None = None
    series: Series = field(factory=dict, eq=False, repr=False)

    @property
    def score(self) -> float:
        """The model's score; higher is better."""
        return self._ended().score

    @property
    def ended(self) -> str:
        """The reason of its end."""
        return self._ended().ended

    @property
    def metrics(self) -> Mapping[str, Any]:
        """Further figures by name."""
        return self._ended().metrics

    @property
    def ledger_digest(self) -> str | None:
        """SHA-256 over the ledgers; None for a state without ledgers."""
        return self._ended().ledger_digest

    def summary(self) -> dict[str, Any]:
        """Return what `--json` prints: one flat, plain object."""
        head, end = self.header, asdict(self._ended())
        for name in ("usage", "waiting"):
            if not end[name]:
                del end[name]
        return {
            "model": head.model,
            "preset": head.preset,
            "params": head.params,
            "seed": head.seed,
            "policies": head.policies,
            **end,
            "version": head.version,
        }

    def write(self, path: str | Path) -> None:
        """Write the record to a new file, gzipped when the name ends in .gz.

        Raises:
            UsageError: The file exists or cannot be made.
        """
        end = self._ended()
        with Recorder(path) as recorder:
            recorder.head(self.header)
            for entry in self.transcript:
                recorder.transcript(entry)
            for step in self.steps:
                recorder.step(step)
            recorder.result(end)

    @classmethod
    def read(
        cls,
        path: str | Path,
        *,
        whole: bool = True,
        keep_steps: bool = True,
        key: bytes | None = None,
        decisions: int | None = None,
    ) -> "Episode":
        """Read a record; nothing that it names is imported, opened or contacted.

        Args:
            path: The file.
            whole: Refuse a record without its last line. Otherwise a cut record is read up to the
                last whole line, and its `result` is None.
            keep_steps: Keep the decisions in memory. Otherwise they are read again from the file
                whenever they are used.
            key: The key with which it must have been written; None checks the digest alone, which
                finds damage and proves nothing.
            decisions: Return it as if it had been cut after this many decisions. The lines behind
                them are checked as the others are.

        Raises:
            BadRecord: It is empty, cut, altered, of another format, no record at all, beyond a
                limit of `desim.episodes.record_file`, or not written with the key.
        """
        file = Path(path)
        try:
            record = parse(
                lines_of(file),
                whole=whole,
                key=key,
                kept=None if keep_steps else 0,
                decisions=decisions,
            )
        except BadRecord as fault:
            text = str(fault)
            raise BadRecord(text if str(path) in text else f"{path}: {text}") from None
        steps = tuple(record.steps) if keep_steps else RecordedSteps(file, record.decisions)
        transcript = tuple(record.transcript)
        return cls(record.header, steps, record.result, transcript, record.failure)

    def _ended(self) -> Result:
        if self.failure is not None:
            raise BadRecord(f"the run failed, so it has no result: {self.failure.error}")
        if self.result is None:
            raise BadRecord("the record was cut before the episode ended, so it has no result")
        return self.result
