"""The findings of checks, as a table."""

from collections.abc import Sequence
from typing import Any

from attrs import field, frozen

from desim.show.table import Table, Tabular
from desim.studies.checks.outcomes import Outcome
from desim.studies.checks.wording import counted


@frozen
class CheckFinding:
    """The outcome of one check of one preset.

    Attributes:
        world: The name of the model, with its preset if it has several.
        check: The name of the check.
        outcome: "ok", "FAILED", "advice" for a world that works and could offer more, or "skipped"
            where there is nothing to check.
        text: What was found, in one sentence.
        place: The class or function that it is about, with file and line; may be empty.
    """

    world: str
    check: str
    outcome: Outcome
    text: str
    place: str = ""


@frozen(repr=False)
class Checks(Tabular):
    """The outcomes of all checks of a model.

    Attributes:
        name: The name of the model.
        findings: Those of the first preset, then those of the next one.
    """

    name: str
    findings: tuple[CheckFinding, ...] = field(repr=False)

    @property
    def failed(self) -> tuple[CheckFinding, ...]:
        """The findings of the checks that failed."""
        return tuple(one for one in self.findings if one.outcome == "FAILED")

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return not self.failed

    def plain(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        from desim.schema import to_plain

        return {**to_plain(self), "ok": self.ok}

    def tables(self) -> tuple[Table]:
        """Return the table of all checks; presets with the same outcome share a line."""
        worlds = list(dict.fromkeys(one.world for one in self.findings))
        lines: dict[tuple[str, ...], list[CheckFinding]] = {}
        for one in self.findings:
            alone = (one.text,) if one.outcome in ("FAILED", "advice") else ()
            lines.setdefault((one.check, one.outcome, *alone), []).append(one)
        heads = ["check", "result", "what was found"]
        cells = [[*key[:2], _found_text(same, worlds)] for key, same in lines.items()]
        return (Table(heads, cells, range(len(heads)), self._title(), self._notes(worlds)),)

    def _title(self) -> str:
        return f"{self.name}: {len(self.failed) or 'none'} of {len(self.findings)} checks failed"

    def _notes(self, worlds: Sequence[str]) -> list[str]:
        if len(worlds) == 1:
            return []
        names = ", ".join(worlds)
        return [f"{counted(len(worlds), 'preset')} were checked, figures of the first: {names}"]


def _found_text(same: Sequence[CheckFinding], worlds: Sequence[str]) -> str:
    """Return the sentence of findings with one outcome, with their presets and the place."""
    named = [one.world.partition("/")[2] or one.world for one in same]
    where = f" ({', '.join(named)})" if len(named) < len(worlds) else ""
    at = f" - {same[0].place}" if same[0].place else ""
    return f"{same[0].text}{at}{where}"
