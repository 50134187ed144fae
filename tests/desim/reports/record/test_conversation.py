"""The conversation with a language model in the report on a record."""

import re
from pathlib import Path

import pytest
from support.conversations import RULES, call, decided, echo, user, write_conversation
from support.pages import Read, read
from support.shop import Shop

from desim import play
from desim.errors import UsageError
from desim.reports.record import conversation
from desim.reports.report import write_report

BUY = {"do": "buy", "papers": 3}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the record goes."""
    return tmp_path / "a.jsonl"


def report(file: Path, *, whole: bool = False) -> tuple[str, Read]:
    """Return the report on a record, as HTML and as read."""
    content = write_report([file], whole=whole).read_bytes()
    return content.decode(), read(content)


def titles(html: str) -> list[str]:
    """Return what is always shown of calls."""
    return re.findall(r'<details class="block talk"><summary>(.*?)</summary>', html)


def texts(html: str) -> list[tuple[str, str]]:
    """Return the texts of calls, each with what it is."""
    return re.findall(r'<h3>([^<]*)</h3>\n<pre dir="auto">\n(.*?)</pre>', html, re.DOTALL)


def test_each_text_is_on_the_page_once(file: Path) -> None:
    """A message that later requests repeat, and a reply that they echo, are not shown again."""
    first, second = [RULES, user("Day one.")], user("Day two.")
    write_conversation(
        file,
        call(first, "I buy three."),
        decided(BUY),
        call([*first, echo("I buy three."), second], "Three again."),
        decided(BUY, 1),
    )
    html, _ = report(file)
    assert [(kind, text) for kind, text in texts(html) if kind != "fields"] == [
        ("system", "You run a kiosk."),
        ("user", "Day one."),
        ("answer", "I buy three."),
        ("user", "Day two."),
        ("answer", "Three again."),
    ]
    assert titles(html) == [
        "Decision 1, vendor, call 1: 2 messages",
        "Decision 2, vendor, call 1: 4 messages",
    ]


def test_a_call_has_its_figures(file: Path) -> None:
    """Tokens, the model that answered, and why a reply ended early."""
    figures = {"prompt_tokens": 10, "cached_tokens": 4, "completion_tokens": 6, "finish": "stop"}
    reply = {"text": "hm", "reasoning_tokens": 5, "served": "m-2", **figures}
    asked = [user("Day one.")]
    write_conversation(
        file,
        call(asked, reply),
        call([*asked, echo("hm"), user("Answer again.")], {**reply, "finish": "length"}),
        decided(BUY),
    )
    html, _ = report(file)
    tokens = "10 tokens read, 4 of them cached, 6 tokens written, 5 of them reasoning"
    tokens += ", answered by m-2"
    assert titles(html) == [
        f"Decision 1, vendor, call 1: 1 message, {tokens}",
        f"Decision 1, vendor, call 1: 3 messages, {tokens}, ended by length",
    ]


def test_reasoning_is_shown_apart_from_the_answer(file: Path) -> None:
    """Whether the server sends it in a field of its own or inside the text."""
    write_conversation(
        file,
        call([user("1")], {"text": "six", "thinking": "seven?"}),
        call([user("2")], "<think>nine?</think>eight"),
        call([user("3")], "<think>no end"),
        decided(BUY),
    )
    html, _ = report(file)
    received = [(kind, text) for kind, text in texts(html) if kind not in ("user", "fields")]
    assert received[:5] == [
        ("reasoning", "seven?"),
        ("answer", "six"),
        ("reasoning", "&lt;think&gt;nine?&lt;/think&gt;"),
        ("answer", "eight"),
        ("reasoning", "&lt;think&gt;no end"),
    ]
    assert received[5][0] == "not readable"
    assert received[6] == ("answer", "(empty)")


def test_judges_and_calls_without_a_reply_are_marked(file: Path) -> None:
    """The phase of a call, the error in place of a reply, and the call at which a record ends."""
    asked = call([user("Day one.")], "three")
    failed = [*asked[:2], {"no_reply": "answered 503"}]
    judged = call([user("Which is better?")], "the first", phase="judge")
    write_conversation(file, failed, judged, decided(BUY), asked[:2])
    html, _ = report(file)
    assert titles(html) == [
        "Decision 1, vendor, call 1: 1 message, no reply",
        "Decision 1, vendor, call 1 (judge): 1 message",
        "After the last decision on record, vendor, call 1: 1 message, no reply",
    ]
    assert ("no reply", "answered 503") in texts(html)
    assert ("no reply", "The record ends before the reply.") in texts(html)


def test_a_hostile_conversation_is_text(file: Path) -> None:
    """Markup, marks of direction, values of other types and a line of 5 MB do no harm."""
    hostile = {"role": "</pre><script>alert(1)</script>", "content": ["x", {"text": 3}, None]}
    write_conversation(
        file,
        call(
            [hostile, {"tool_calls": 3}],
            {
                "text": 7,
                "calls": "no",
                "prompt_tokens": "many",
                "completion_tokens": 10**400,
                "seconds": True,
                "finish": [1],
            },
            tools=[{"function": 3}, {"name": "<b>"}],
        ),
        call([user("</script><img src=x onerror=alert(1)>\u202eback")], "y" * 5_000_000),
        decided(BUY, notes={"usage": 3, "default_action": ["<i>"]}),
    )
    html, page = report(file)
    assert "script" not in page.tags
    assert "\\u202eback" in page.text
    assert "\u202e" not in html
    assert len(html) < 200_000
    assert "[4,992,000 characters are left out; --whole shows them]" in page.text
    assert len(report(file, whole=True)[0]) > 5_000_000


def test_a_conversation_that_is_nested_too_deep_is_not_shown(file: Path) -> None:
    """The rest of the page is."""
    deep: object = 1
    for _ in range(400):
        deep = {"a": [deep]}
    write_conversation(file, call([user("1")], {"text": deep, "finish": deep}), decided(BUY))
    _, page = report(file)
    assert "Decisions" in page.heads
    assert "Conversation" in page.heads


def test_calls_beyond_the_limit_of_a_page_are_counted(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The option shows them."""
    monkeypatch.setattr(conversation, "_MOST_TEXTS", 8_000)
    calls = [[call([user(f"Day {day}.")], "three"), decided(BUY, day)] for day in range(30)]
    write_conversation(file, *(line for pair in calls for line in pair))
    _, page = report(file)
    shown = [day for day in range(30) if f"Day {day}." in page.text]
    assert 5 < len(shown) < 25
    assert shown == [*range(len(shown))]
    assert f"{30 - len(shown)} further calls are left out; desim report --whole" in page.text
    _, page = report(file, whole=True)
    assert all(f"Day {day}." in page.text for day in range(30))


def test_an_altered_conversation_is_refused_and_the_rest_is_shown(file: Path) -> None:
    """The page says which text was altered."""
    write_conversation(file, {"texts": {"0" * 32: user("other")}}, decided(BUY))
    _, page = report(file)
    assert re.search(
        r"The conversation of a.jsonl is shown up to here: the text '0+' .* altered", page.text
    )
    assert "Decisions" in page.heads


def test_without_a_language_model_there_is_no_conversation(file: Path) -> None:
    """Nor for a text of another policy under the name of a reply."""
    play(Shop(), lambda _: {"do": "sell", "teas": 2}, record=file)
    assert "Conversation" not in report(file)[1].heads
    write_conversation(file, {"reply": "I heard you."}, decided(BUY))
    assert "Conversation" not in report(file)[1].heads


def test_whole_belongs_to_records(tmp_path: Path) -> None:
    """The folder of a sweep has no conversation."""
    with pytest.raises(UsageError, match="--whole belongs to the report about records"):
        write_report([tmp_path], whole=True)
