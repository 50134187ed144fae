"""The Enterprise Digital Twin: one decision an episode, and how the episodes before went.

Source: reference SPEC of the EDT, sections 8 and 10. The interactive preset, which is ours, is
talked about like any world.
"""

from collections.abc import Mapping
from typing import Any

from desim import Episode, Seat
from desim.schema import to_plain
from policies.llm import parse, tools
from policies.llm.parse import BadReply, objects, text_of
from policies.llm.talk import Rests, Taken, Talk, Wishes, shown
from policies.llm.wire import Reply
from policies.llm.worlds.generic import Generic

__all__ = ["talk"]

#: What a learning player is told of an episode.
_FIGURES = (
    "accumulated_earnings",
    "accumulated_revenue",
    "accumulated_expenses",
    "overall_profit_margin",
    "overall_avg_utilization",
)

#: Refused decisions after which the scenario's own is taken.
_REFUSALS = 3

_KEYS = {"C", "R", "P", "final_answer"}


def talk(seat: Seat, wishes: Wishes) -> Talk:
    """Begin a conversation."""
    game: Any = seat.model
    if game.asks != "once":
        return Generic(seat, wishes)
    return OneDecision(seat, wishes, mode="json")


class OneDecision(Generic):
    """The scenario and what earlier decisions earned, and one decision for an answer."""

    _refused = 0

    def due(self, seen: Any) -> Any:
        """Ask for another decision when one was refused, but not for ever.

        Raises:
            Rests: Several were refused.
        """
        self._refused = self._refused + 1 if seen.refused else 0
        if self._refused > _REFUSALS:
            raise Rests(f"{self._refused} decisions were refused, the last because {seen.refused}")

    def offered(self) -> list[str]:
        """Offer the decision in its own form; the published form is text."""
        return ["decide"]

    def rules(self, _: Any) -> str:
        """Tell the firm's story."""
        return (
            "You run a consulting firm for one simulated stretch of time. Before it starts you "
            "make one decision; then the firm runs by itself and you cannot step in. The aim is "
            "the highest accumulated earnings at the end: revenue less salaries, workplaces and "
            "fixed cost.\n"
            "You choose C, the consultants kept (each costs money in every step, busy or not); R, "
            "the level of revenue risk (the higher it is, the less sure the extensions and "
            "follow-on projects on which the firm counts); and P, which projects to take and when "
            "each is open. You cannot change salaries, rates or efforts. Free consultants go to "
            "open projects by themselves, up to each project's seats, and stay until it ends; work "
            "delivered is billed at the project's rate.\n"
            "You are told, the projects as a table:\n"
            f"{tools.fields_of(self.seat.does.sees)}"
        )

    def told(self, seen: Any) -> str:
        """Tell the scenario, and how the episodes before went."""
        plain = to_plain(seen)
        rows = plain.pop("projects")
        parts = [shown(plain), shown([*rows[0]] if rows else [])]
        parts += [shown([*row.values()]) for row in rows]
        if self.memory:
            parts.append("Your earlier episodes in this scenario, the first one first:")
            parts += [shown(each) for each in self.memory]
        if seen.refused:
            parts.append(f"Your last decision was refused: {seen.refused}")
        return "\n".join(parts)

    def form(self) -> str:
        """Say how to answer."""
        if self.mode == "tools":
            return super().form()
        return (
            'Answer with one JSON object with exactly these keys: {"C": whole number from 0 to '
            'the consultants there are, "R": number from 0 to 1, "P": a list with one entry for '
            "every project in order, 0 to leave it out or [1, start_step, deadline_step] with "
            "0 <= start_step <= deadline_step <= horizon}."
        )

    def schema(self) -> tools.Schema:
        """Return the schema of the answer."""
        firm: Any = self.seat.model
        taken = {"type": "array", "items": {"type": "integer"}, "minItems": 3, "maxItems": 3}
        entry = {"anyOf": [{"type": "integer", "enum": [0]}, taken]}
        count = sum(not each.is_follow_on for each in firm.firm.projects)
        risk = {"type": "number", "minimum": 0, "maximum": 1}
        return tools.strict(
            tools.as_object(
                {
                    "C": {"type": "integer", "minimum": 0, "maximum": len(firm.firm.consultants)},
                    "R": risk,
                    "P": {"type": "array", "items": entry, "minItems": count, "maxItems": count},
                }
            )
        )

    def answer(self, reply: Reply, seen: Any) -> Taken:
        """Take the first decision in a text as it is: the world repairs or refuses it."""
        if reply.calls:
            return super().answer(reply, seen)
        for found in objects(text_of(reply)):
            if _KEYS & found.keys():
                given = {"do": "answer", "given": found}
                return Taken(parse.taken(self.codec, given, ["answer"]))
        raise BadReply("your reply holds no decision; write one JSON object with C, R and P")

    def after(self, episode: Episode) -> None:
        """Keep the five figures and the decision they came from."""
        super().after(episode)
        if self.wishes.feedback:
            figures = {name: episode.metrics.get(name) for name in _FIGURES}
            self.memory.append(figures | {"decision": _decision(episode, self.seat.role)})


def _decision(episode: Episode, role: str) -> Any:
    """Return the decision answered last, in the published form."""
    given = [step.action for step in episode.steps if step.role == role]
    if not given:
        return None
    if hasattr(given[-1], "raw"):
        return to_plain(given[-1].raw())
    plain = to_plain(given[-1])
    return plain.get("given", plain) if isinstance(plain, Mapping) else plain
