"""The policy `llm`: a language model at a seat of any world."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import define, evolve, field

from desim import Episode, Model, Role, Seat
from desim.core.policy import OutsidePolicy, ReadReply, ShownMemory
from desim.engine.budget import command_budget
from desim.errors import BadRecord
from desim.schema import from_plain, to_plain
from desim.schema.arguments import build, parameters
from policies.llm.conversation import (
    Conversation,
    NoCallNeeded,
    ParsedReply,
    conversation_kind,
    conversation_module,
    world_texts,
)
from policies.llm.messages import corrected
from policies.llm.methods.build import check_method, learning_at, method_class
from policies.llm.methods.learning import Learning
from policies.llm.methods.memory_file import shown_memory
from policies.llm.options import LLMOptions
from policies.llm.replies import BadReply, read_recorded
from policies.llm.router.at_seat import Routing, routing_at
from policies.llm.router.predictions import Item, predicted
from policies.llm.wires.budget import NOTHING, Metered, Spent
from policies.llm.wires.calling import Calling, gate_of, in_thread
from policies.llm.wires.endpoint import Endpoint
from policies.llm.wires.wire import Complete, ModelReply, Request


@define(eq=False, repr=False, init=False)
class Llm(OutsidePolicy):
    """A language model that answers through an endpoint.

    Attributes:
        role: The role it plays.
        conversation: The conversation of the role's world.
        complete: The call of the model: a method's, or the metered call itself.
        metered: Sends requests within the limits and writes them and their replies to the record.
        retries: How often the model is asked again after an invalid reply, in one decision.
        model: The model's name, for labels.
        learning: The method with its memory; None without a method.
        routing: The router and the methods behind it; None without a router.
        notes: What the last decision used, why it took the default action if it did, and which
            limit of the episode is reached, if one is.
    """

    reaches = ("base_url", "conversation", "key_env", "memory", "method", "router")
    draws = True
    takes_role = True

    _arguments: Mapping[str, Any]
    role: Role = field(init=False)
    conversation: Conversation = field(init=False)
    complete: Complete = field(init=False)
    metered: Metered = field(init=False)
    retries: int = field(default=2, init=False)
    model: str = field(default="", init=False)
    learning: Learning | None = field(default=None, init=False)
    routing: Routing | None = field(default=None, init=False)
    notes: dict[str, Any] = field(factory=dict, init=False)
    _asked: Role | None = field(default=None, init=False)
    _limit_reached: str = field(default="", init=False)
    _repairs: int = field(default=0, init=False)
    _bad_replies: int = field(default=0, init=False)
    _default_reason: str = field(default="", init=False)
    _reply_default: str = field(default="", init=False)
    _memory_recorded: bool = field(default=False, init=False)

    def __init__(self, **arguments: Any) -> None:
        """Keep the arguments, which `arguments` declares."""
        self.__attrs_init__(arguments)

    def seated(self, seat: Seat) -> None:
        """Set up the conversation, the endpoint and the method.

        Raises:
            UsageError: An argument is invalid, or the endpoint cannot be set up.
        """
        arguments = self._arguments
        kind = conversation_kind(type(seat.model), arguments.get("conversation", ""))
        options, own = _split_arguments(kind.options, arguments)
        if command_budget().max_cost is not None:
            options.need_prices("--max-cost")
        conversation = kind.begin(seat, options)
        metered, call = _calls(options, conversation)
        learner = learning_at(options, seat, conversation, call, **own)
        routing = routing_at(options, seat, conversation, call)
        self.role, self.conversation, self.metered = seat.spec, conversation, metered
        self.complete = routing or (learner.method if learner else call)
        self.retries, self.model = options.retries, options.model
        self.learning, self.routing = learner, routing

    @staticmethod
    def arguments(model: type | None, given: Mapping[str, Any]) -> tuple[type, ...]:
        """Return the classes of the arguments: of every world or of a model's, and of a method."""
        named = given.get("conversation", "")
        options = conversation_kind(model, named).options if model else LLMOptions
        return options, method_class(given.get("method", ""))

    @staticmethod
    def dependencies(model: Model[Any], arguments: Mapping[str, str]) -> Iterable[Any]:
        """Yield what makes the conversation, the model's texts, and a user's own method."""
        yield conversation_module(type(model), arguments.get("conversation", ""))
        yield world_texts(model)
        if ":" in (name := arguments.get("method", "")):
            yield method_class(name)

    @staticmethod
    def shown_memory(path: str) -> ShownMemory:
        """Return what a method keeps in a file."""
        return shown_memory(path)

    @staticmethod
    def read_reply(reply: Mapping[str, Any]) -> ReadReply:
        """Return reasoning and answer of a reply on record, which may have been altered."""
        return read_recorded(reply)

    def __repr__(self) -> str:
        return f"Llm(model={self.model!r})"

    def resume(self, entries: Sequence[Mapping[str, Any]], write: Callable[[Any], None]) -> None:
        """Take the requests and replies of a cut record, so that no call is made twice.

        Raises:
            BadRecord: This policy does not write such an entry.
        """
        self.metered.transcript = write
        for entry in entries:
            if not isinstance(entry, Mapping):
                raise BadRecord("a transcript entry of a language model is no object")
            if "memory" in entry:
                self.conversation.memory = from_plain(entry["memory"], list, "$.entry.memory")
                self._memory_recorded = not (self.learning and self.learning.has_memory)
            if "learned" in entry and self.learning:
                self.learning.restore(entry["learned"])
                self._memory_recorded = True
            if "router" in entry and self.routing:
                self.routing.restore(entry["router"])
        self.metered.restore(entries)

    def rehearse(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Take the requests and replies of whole records, which are used in place of the server's.

        Raises:
            BadRecord: An entry is not a valid reply.
        """
        self.metered.rehearse(entries)

    def reuse(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Take the replies of earlier records, each for a request that is the same as there.

        Raises:
            BadRecord: An entry is not a valid request or reply.
        """
        known = list(entries)
        for entry in known:
            if "predictions" in entry and self.routing:
                given = from_plain(entry["predictions"], dict[str, list[Item]], "$.predictions")
                self.routing.take(given["learned"], given["stored"])
        self.metered.reuse(known)

    @staticmethod
    def predictions(model: Model[Any], episodes: Mapping[str, Episode]) -> Iterator[dict[str, Any]]:
        """Yield the questions of a world as plain values, as methods answered them."""
        gold = conversation_kind(type(model)).answers(model)
        yield from map(to_plain, predicted(model, episodes, gold))

    def decide(self, observation: Any, role: Role | None = None) -> Any:
        """Return an action, after one or more calls of the model if the world needs one."""
        self._take_role(role or self.role)
        self._repairs = self._bad_replies = 0
        self._default_reason = ""
        self.metered.decision = NOTHING.copy()
        if self.routing:
            self.routing.begin_decision(observation)
        action = self._action(observation)
        self.notes = self._noted()
        return action

    async def decide_async(self, *asked: Any) -> Any:
        """Return an action as `decide` does; other decisions go on while a call is under way."""
        return await in_thread(self.decide, *asked)

    def after(self, episode: Episode) -> None:
        """Learn from an episode; the next begins with fresh limits."""
        if self.learning:
            self.learning.after(episode)
        if self.routing:
            self.routing.begin_episode()
        self.conversation.after(episode)
        self.metered.begin_episode()
        self._limit_reached, self._memory_recorded, self._reply_default = "", False, ""

    def _action(self, observation: Any) -> Any:
        try:
            self._record_memory()
            if not self._limit_reached:
                action = self.conversation.action_without_call(observation)
                if action is None:
                    return self._models_action(observation)
                # It follows from the last reply, and so does whether it is the model's.
                self._default_reason = self._reply_default
                return action
        except NoCallNeeded as reason:
            self._default_reason = str(reason)
        except Spent as limit:
            self._limit_reached = str(limit)
        self._default_reason = self._default_reason or self._limit_reached
        return (self._asked or self.role).default_for(observation)

    def _take_role(self, role: Role) -> None:
        """Let the conversation offer the actions that the question takes alone."""
        if role.action != (self._asked or self.role).action:
            self.conversation.take_role(role)
        self._asked = role

    def _models_action(self, observation: Any) -> Any:
        """Call the model until a reply is valid; after the last retry return the fallback."""
        if self.learning:
            self.learning.catch_up()
        question = self.conversation.question(observation)
        self._reply_default = ""
        if self.learning:
            self.learning.begin(question)
        messages = list(question.messages)
        for _ in range(self.retries + 1):
            reply = self.complete(evolve(question, messages=messages))
            try:
                parsed = self._parsed(reply, observation)
            except BadReply as bad:
                self._bad_replies += 1
                last = bad
                messages += corrected(reply, bad)
            else:
                self._repairs += parsed.repairs
                self._default_reason = self._reply_default = parsed.default
                self._learn(question, reply)
                return parsed.action
        self._default_reason = self._reply_default = (
            f"{self._bad_replies} replies were no answer, the last because {last}"
        )
        self._learn(question, reply)
        return self.conversation.fallback(observation)

    def _learn(self, question: Request, reply: ModelReply) -> None:
        """Learn from a decision; a limit that is reached here does not take it back."""
        if self.learning:
            try:
                self.learning.decided(question, reply)
            except Spent as limit:
                self._limit_reached = str(limit)

    def _parsed(self, reply: ModelReply, observation: Any) -> ParsedReply:
        if reply.malformed:
            raise BadReply(reply.malformed)
        return self.conversation.read(reply, observation)

    def _record_memory(self) -> None:
        """Write what is carried into this episode to the record, before anything else."""
        if self.learning:
            self.learning.hold()
        if self.routing:
            self.routing.record(self.metered.write)
        if self._memory_recorded:
            return
        if self.conversation.memory:
            self.metered.write({"memory": self.conversation.memory})
        if self.learning and self.learning.has_memory:
            self.metered.write({"learned": self.learning.plain})
        self._memory_recorded = True

    def _noted(self) -> dict[str, Any]:
        usage = self.metered.decision | {
            "decisions": 1,
            "repairs": self._repairs,
            "bad_replies": self._bad_replies,
            "default_actions": int(bool(self._default_reason)),
        }
        reason = {"default_action": self._default_reason} if self._default_reason else {}
        limit = {"limit": self._limit_reached} if self._limit_reached else {}
        routed = {"method": self.routing.chosen} if self.routing and self.routing.chosen else {}
        return {"usage": usage} | routed | reason | limit


def _split_arguments(
    options: type[LLMOptions], arguments: Mapping[str, Any]
) -> tuple[LLMOptions, dict[str, Any]]:
    """Return the options of a world, and the arguments of the method alone."""
    method: Any = method_class(arguments.get("method", ""))
    names = parameters(method)
    of_world = build(options, {k: v for k, v in arguments.items() if k not in names})
    check_method(of_world)
    return of_world, {k: v for k, v in arguments.items() if k in names}


def _calls(options: LLMOptions, conversation: Conversation) -> tuple[Metered, Complete]:
    """Return what sends requests within the limits, and the call of the model."""
    fields = {**conversation.request_fields, **options.request_fields}
    endpoint = Endpoint.of(options.model, options.base_url, options.key_env, fields)
    metered = Metered(endpoint, options, command_budget(), endpoint.fields)
    return metered, Calling(
        metered,
        endpoint.name,
        timeout=options.timeout,
        resends=options.resends,
        gate=gate_of(endpoint.server),
        at_once=metered.command.calls_at_once,
        reserved=metered.reserved,
    )
