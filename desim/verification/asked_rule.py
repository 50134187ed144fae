"""A rule of a submitter's own, asked in a process of its own that the sandbox confines.

The process is new for each episode, and for each series of episodes in a row. It may import the
packages below and the files of the entry's code; it gets the seat without the world's seed, and
observations as JSON.
"""

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import msgspec
from attrs import frozen

from desim.catalog.policy_finder import stand_ins
from desim.catalog.policy_spec import Spec
from desim.core.roles import Knowledge, Role
from desim.episodes.lineup import Seat
from desim.errors import BadRecord, DesimError, PolicyFailed, UsageError
from desim.records.lines import Header
from desim.sandbox.dialogue import AnsweringProgram, Dialogue, NoAnswer
from desim.sandbox.process import NotConfined, SandboxFailed
from desim.sandbox.program_limits import ProgramLimits
from desim.schema import encode_observation, members
from desim.schema.untrusted import decode_json
from desim.short_repr import cut, shown
from desim.verification.played_again import NotDecidable

#: Packages that a rule may import, besides the standard library and its own files.
PACKAGES = (
    *("desim", "ledgers", "models", "policies"),
    *("attr", "attrs", "msgspec", "numpy", "scipy", "simpy"),
)

#: Seconds that a decision may take, and the limits of the process of an episode or a series.
SECONDS = 10.0
LIMITS = ProgramLimits(
    seconds=3_600, cpu_seconds=3_600, memory=2_000_000_000, output=1_000_000, file=4_000_000
)

_ANSWERS = "desim.verification.rule_answers"
_NO_ACTION = "it answers with something else than an action"


class _Declared(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The declarations of a rule's class; see the protocols of the same names."""

    knows: Knowledge = "observation"
    knows_by: dict[str, Knowledge] = {}
    takes_options: bool = False
    informed: bool = False
    seats: str = ""


@frozen
class StrangersRule:
    """The class or the function of a submitter's own rule.

    Attributes:
        name: `module:Name`.
        code: The files of its code by path.
        declared: What it declares, by name.
    """

    name: str
    code: Mapping[str, bytes]
    declared: Mapping[str, Any]

    @classmethod
    def of(cls, name: str, code: Mapping[str, bytes]) -> "StrangersRule":
        """Return a rule with what it declares, as a process of its own says.

        Raises:
            BadRecord: It cannot be imported, or declares something that does not exist.
            NotDecidable: It needs what it cannot get, or the system does not confine it.
        """
        dialogue = _dialogue("facts", {"name": name}, code)
        try:
            answer = _answer(dialogue, b"{}", name)
            declared = msgspec.convert(answer.get("declares"), _Declared)
        except (NoAnswer, PolicyFailed, msgspec.ValidationError) as fault:
            raise BadRecord(f"policy {shown(name)}: {cut(str(fault), 300)}") from None
        finally:
            dialogue.close()
        return cls(name, code, msgspec.to_builtins(declared))


@contextlib.contextmanager
def asked_apart(rules: Mapping[str, StrangersRule]) -> Iterator[None]:
    """Ask rules in processes of their own in the block, where specs name them; end these after it.

    Args:
        rules: The rules by name.
    """
    with contextlib.ExitStack() as stack:
        own = {
            name: type("AskedRule", (AskedRule,), {**rule.declared, "rule": rule, "ended": stack})
            for name, rule in rules.items()
        }
        with stand_ins(own):
            yield


class AskedRule:
    """The policy of a rule that is asked in a process of its own; its class replaces the rule's."""

    rule: ClassVar[StrangersRule]

    #: Ends the process.
    ended: ClassVar[contextlib.ExitStack]

    #: It is asked with the actions that a question takes; the rule itself may take no notice.
    takes_role = True

    def __init__(self, seat: Seat, texts: Mapping[str, str]) -> None:
        self.notes: Mapping[str, Any] = {}
        self._seat, self._decided = seat, 0
        self._spec = str(Spec(self.rule.name, texts))
        seen, does = (_names(kind) for kind in (seat.spec.observation, seat.spec.action))
        about = {
            "spec": self._spec,
            "role": seat.role,
            "seat": seat.name,
            "seed": str(seat.seed),
            "observation": seen,
            "action": does,
            "options_know": seat.spec.options_know,
            "model": msgspec.json.encode(Header.of(seat.model, 0, {})) if seat.shows_model else b"",
        }
        modules = {name.partition(":")[0] for name in (*seen, *does)}
        self._dialogue = _dialogue("decisions", about, self.rule.code, *sorted(modules))
        self.ended.callback(self._dialogue.close)

    @staticmethod
    def arguments(_: type | None, given: Mapping[str, Any]) -> tuple[Callable[..., Any], ...]:
        """Return a function that takes the arguments as texts; the rule's class checks them."""

        def arguments(**_: str) -> None: ...

        kind = inspect.Parameter.KEYWORD_ONLY
        call: Any = arguments
        call.__signature__ = inspect.Signature([inspect.Parameter(one, kind) for one in given])
        call.__annotations__ = dict.fromkeys(given, str)
        return (call,)

    @classmethod
    def seated(cls, seat: Seat, **texts: str) -> "AskedRule":
        """Return the rule of a seat; its process is started by the first decision."""
        return cls(seat, texts)

    def decide(self, observation: Any, narrowed: Role | None = None) -> Any:
        """Return the action of the rule, as plain values.

        Raises:
            PolicyFailed: It fails, takes too long, or does not answer with an action.
            NotDecidable: It needs what it cannot get, or the system does not confine it.
        """
        self._decided += 1
        seen = encode_observation(observation, self._seat.spec.observation)
        question = {"observation": msgspec.Raw(seen), "only": narrowed.tags if narrowed else ()}
        try:
            answer = _answer(self._dialogue, msgspec.json.encode(question), self._spec)
            action, self.notes = dict(answer["action"]), dict(answer["notes"])
        except (NoAnswer, PolicyFailed, KeyError, TypeError, ValueError) as fault:
            why = str(fault) if isinstance(fault, DesimError) else _NO_ACTION
            where = f"decision {self._decided} ({self._seat.name!r})"
            raise PolicyFailed(f"{where}: policy {shown(self._spec)} failed: {why}") from None
        return action


def _dialogue(
    function: str, about: Mapping[str, Any], code: Mapping[str, bytes], *imports: str
) -> Dialogue:
    return Dialogue(
        AnsweringProgram(f"{_ANSWERS}:{function}", about, code, PACKAGES, imports), LIMITS
    )


def _answer(dialogue: Dialogue, question: bytes, name: str) -> dict[str, Any]:
    """Return the answer of a rule's process.

    Raises:
        NoAnswer: The process has not answered.
        PolicyFailed: The rule has raised an exception, or does not answer with an object of JSON.
        NotDecidable: It needs what it cannot get, or the system does not confine it.
    """
    try:
        answer = decode_json(dialogue.ask(question, SECONDS))
    except NotConfined:
        raise NotDecidable(
            f"policy {shown(name)} is a stranger's code, and this system does not confine "
            "programs; nothing of it was run (--trust imports it)"
        ) from None
    except (SandboxFailed, UsageError) as fault:
        raise NotDecidable(f"policy {shown(name)} cannot be asked here: {fault}") from None
    except ValueError:
        answer = None
    match answer:
        case {"cannot": str(why)}:
            raise NotDecidable(
                f"policy {shown(name)} cannot be asked in a process of its own: {cut(why, 300)} "
                "(--trust imports it)"
            )
        case {"error": str(why)}:
            raise PolicyFailed(cut(why, 300))
        case dict():
            return answer
    raise PolicyFailed(_NO_ACTION)


def _names(kind: Any) -> list[str]:
    """Return the names of the classes of a union, by which another process finds them."""
    return [f"{cls.__module__}:{cls.__qualname__}" for cls in members(kind)]
