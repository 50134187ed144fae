"""The conversation with a language model on a page: decisions, their calls, and their texts."""

from attrs import field, frozen

from desim.short_repr import shortened, visible_text

#: Characters of a text that is open as soon as its decision is.
_MOST_OPEN = 1_500

#: Characters of the beginning of a text that is not open.
_HEAD = 90


def one_line(text: str, width: int = 300) -> str:
    """Return a text from outside on one line, without its middle part if it is long."""
    return " ".join(visible_text(shortened(text, width)).split())


@frozen
class SaidText:
    """A text of a request or of a reply, which a reader folds and unfolds.

    Attributes:
        kind: "system", "user", "assistant", "tool", "tools", "fields", "reasoning", "answer" or
            "other".
        label: What the text is, in a word or two.
        text: The text, whose control characters and marks of direction are escaped.
        anchor: Its identifier on the page; empty if nothing refers to it.
        size: How long it is, where it is long or was cut.
        is_open: Whether it is unfolded at first.
    """

    kind: str
    label: str = field(converter=one_line)
    text: str = field(converter=visible_text)
    anchor: str = ""
    size: str = ""
    is_open: bool = True

    @classmethod
    def of(cls, kind: str, label: str, text: str, anchor: str, most: int | None) -> "SaidText":
        """Return a text, without its middle part if it is longer than *most* characters."""
        length, size = len(text), ""
        if length > _MOST_OPEN:
            size = f"{length:,} characters"
        if most is not None and length > most:
            half = most // 2
            left_out = f"[{length - 2 * half:,} characters are left out; --whole shows them]"
            text = f"{text[:half]}\n{left_out}\n{text[length - half :]}" if half else left_out
        is_open = kind == "answer" or length <= _MOST_OPEN
        return cls(kind, label, text, anchor, size, is_open)

    @property
    def head(self) -> str:
        """The beginning of the text on one line."""
        start = self.text.lstrip()[:_HEAD]
        return one_line(start) + "\u2026" * (len(self.text) > len(start))


@frozen
class SentParts:
    """The parts of a request by their anchors, of which the page joins the whole request.

    Attributes:
        anchor: The identifier of this request on the page.
        before: The anchor of an earlier request; empty for none.
        shared: The number of first parts that are those of the earlier request.
        others: The anchors of the parts that follow.
        messages: The number of messages of the request.
    """

    anchor: str
    before: str
    shared: int
    others: tuple[str, ...]
    messages: int


@frozen
class CallTexts:
    """A call of a model.

    Attributes:
        title: Its number.
        marks: What tells it from an ordinary call, such as "judge" or "repair".
        facts: Tokens, seconds, cost, the model that answered.
        sent: The texts of the request that no earlier request of the page has.
        parts: The whole request; None if the record does not hold it.
        received: Reasoning, answer and tool calls, or the error in place of a reply.
    """

    title: str
    marks: tuple[str, ...]
    facts: tuple[str, ...]
    sent: tuple[SaidText, ...]
    parts: SentParts | None
    received: tuple[SaidText, ...]


@frozen
class DecisionCalls:
    """A decision and the calls that led to it.

    Attributes:
        anchor: Its identifier on the page.
        title: Its number, time and role.
        action: The action that was taken, on one line.
        marks: What tells it from an ordinary decision, such as "default action".
        facts: Calls, tokens and cost.
        reason: Why the default action was taken; empty if it was not.
        row: The anchor of its row among the decisions; empty if it has none.
        calls: In the order in which they were sent.
    """

    anchor: str
    title: str = field(converter=one_line)
    action: str = field(converter=one_line)
    marks: tuple[str, ...]
    facts: tuple[str, ...]
    reason: str = field(converter=one_line)
    row: str
    calls: tuple[CallTexts, ...]


@frozen
class ModelCalls:
    """The conversation of one record.

    Attributes:
        title: The name of the record; empty if the page has one conversation.
        prompts: System prompts and tools, each once.
        decisions: The decisions that are shown, in order.
        left_out: After how many of them decisions are left out, and a sentence that says how many;
            None if all are shown.
    """

    kind = "model calls"
    title: str = field(converter=one_line)
    prompts: tuple[SaidText, ...]
    decisions: tuple[DecisionCalls, ...]
    left_out: tuple[int, str] | None = None
