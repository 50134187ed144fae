"""The conversation with a language model in the report on a record."""

import re
from pathlib import Path

import pytest
from support.conversations import RULES, call, decided, echo, user, write_conversation
from support.pages import Read, read
from support.shop import Shop

from desim import play
from desim.errors import UsageError
from desim.reports.record import record_calls
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


def summaries(html: str) -> list[str]:
    """Return what is always shown of decisions and texts, without markup."""
    found = re.findall(r"<(?:summary|h3)>(.*?)</(?:summary|h3)>", html, re.DOTALL)
    return [" ".join(re.sub(r"<[^>]*>", "", each).split()) for each in found]


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
    html, page = report(file)
    pres = [text.strip() for text in re.findall(r'<pre dir="auto">(.*?)</pre>', html, re.DOTALL)]
    for text in ("You run a kiosk.", "Day one.", "I buy three.", "Day two.", "Three again."):
        assert pres.count(text) == 1
    assert "The whole request: 4 messages" in page.text
    own, before, shared, others = re.findall(
        r'id="(\w+)" data-before="(\w+)" data-shared="(\d)" data-others="(.*?)"', html
    )[0]
    ids = re.findall(r' id="(\w+)"', html)
    assert {own, before, *others.split()} <= set(ids)
    assert (shared, len(others.split()), len(ids)) == ("3", 2, len(set(ids)))


def test_a_decision_has_its_action_and_sums(file: Path) -> None:
    """Tokens, cost, repairs, the default action and why it was taken."""
    figures = {"prompt_tokens": 10, "cached_tokens": 4, "completion_tokens": 6, "finish": "stop"}
    reply = {"text": "hm", "reasoning_tokens": 5, "served": "m-2", "id": "r1", **figures}
    usage = {"bad_replies": 2, "cost": 0.5}
    asked = [user("Day one.")]
    write_conversation(
        file,
        call(asked, reply),
        call([*asked, echo("hm"), user("Answer again.")], {**reply, "finish": "length"}),
        decided(BUY, notes={"usage": usage, "default_action": "2 replies were no answer"}),
    )
    html, page = report(file)
    shown = summaries(html)
    assert (
        "Decision 1, t=0, vendor buy: papers 3 default action repair ended by length 2 calls "
        "20 tokens read (8 cached) 12 tokens written (10 reasoning) cost 0.5"
    ) in shown
    tokens = "10 tokens read (4 cached) 6 tokens written (5 reasoning) answered by m-2 reply r1"
    assert f"Call 1 {tokens}" in shown
    assert f"Call 1 repair ended by length {tokens}" in shown
    assert "The default action was taken: 2 replies were no answer" in page.text
    assert ["vendor", "step", "2", "20", "8", "12", "10"] in [x for t in page.tables for x in t]


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
    texts = re.findall(r'class="said (\w+)".*?<pre dir="auto">\n(.*?)</pre>', html, re.DOTALL)
    received = [(kind, text) for kind, text in texts if kind not in ("user", "fields")]
    assert received[:4] == [
        ("reasoning", "seven?"),
        ("answer", "six"),
        ("reasoning", "&lt;think&gt;nine?&lt;/think&gt;"),
        ("answer", "eight"),
    ]
    assert received[4] == ("reasoning", "&lt;think&gt;no end")
    assert received[5][0] == "other"
    assert received[6] == ("answer", "(empty)")


def test_judges_and_calls_without_a_reply_are_marked(file: Path) -> None:
    """The phase of a call, the error in place of a reply, and the call at which a record ends."""
    asked = call([user("Day one.")], "three")
    failed = [*asked[:2], {"no_reply": "answered 503"}]
    judged = call([user("Which is better?")], "the first", phase="judge")
    write_conversation(file, failed, judged, decided(BUY), asked[:2])
    html, page = report(file)
    shown = summaries(html)
    assert "Call 1 no reply" in shown
    assert "Call 1 judge" in shown
    assert "answered 503" in page.text
    assert "After the last decision on record no reply 1 call" in shown
    assert "The record ends before the reply." in page.text


def test_decisions_and_calls_lead_to_each_other(file: Path) -> None:
    """The number of a decision leads to its calls, and these lead back."""
    write_conversation(file, decided(BUY), call([user("Day two.")], "three"), decided(BUY, 1))
    html, _ = report(file)
    anchor, href = re.findall(r'<td class="numbers"><a id="(\w+)" href="#(\w+)">2</a>', html)[0]
    assert f'<details class="unit" id="{href}">' in html
    assert f'<a href="#{anchor}">Observation, action and notes' in html


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
    assert page.tags.count("script") == 1
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


def test_a_request_that_goes_on_from_another_decision_is_no_repair(file: Path) -> None:
    """Only a further call of one decision is, where replies were no answer."""
    first = [user("Day one.")]
    second = [*first, echo("three"), user("Day two.")]
    notes = {"usage": {"bad_replies": 1}}
    write_conversation(
        file,
        call(first, "three"),
        decided(BUY),
        call(second, "hm"),
        call([*second, echo("hm"), user("Again.")], "four"),
        decided(BUY, 1, notes=notes),
    )
    marks = [each for each in summaries(report(file)[0]) if each.startswith("Call ")]
    assert marks == ["Call 1", "Call 1", "Call 1 repair"]


def test_entries_of_other_policies_stay_messages(file: Path) -> None:
    """Such as a text under the name of a reply."""
    write_conversation(file, {"reply": "I heard you."}, decided(BUY))
    _, page = report(file)
    assert "Messages" in page.heads
    assert "Conversation" not in page.heads


def test_many_calls_are_left_out_by_number(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first and the last decisions are shown, and how many are between them."""
    monkeypatch.setattr(record_calls, "_MOST_CALLS", 12)
    calls = [[call([user(f"Day {day}.")], "three"), decided(BUY, day)] for day in range(30)]
    write_conversation(file, *(line for pair in calls for line in pair))
    _, page = report(file)
    shown = [day for day in range(30) if f"Day {day}." in page.text]
    assert shown == [*range(10), 28, 29]
    assert "18 decisions between these are left out; desim report --whole shows them" in page.text
    assert [x[2] for t in page.tables for x in t if x[:2] == ["vendor", "step"]] == ["30"]
    _, page = report(file, whole=True)
    assert all(f"Day {day}." in page.text for day in range(30))


def test_the_texts_of_a_page_have_a_limit(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond it each text is left out with its length."""
    monkeypatch.setattr(record_calls, "_MOST_TEXTS", 60)
    calls = [[call([user(f"Day {day}. " * 4)], "three"), decided(BUY, day)] for day in range(9)]
    write_conversation(file, *(line for pair in calls for line in pair))
    html, page = report(file)
    assert html.count('<pre dir="auto">\n[28 characters are left out; --whole shows them]') == 7
    assert "Day 8" not in page.text


def test_an_altered_conversation_is_refused_and_the_rest_is_shown(file: Path) -> None:
    """The page says which text was altered."""
    write_conversation(file, {"texts": {"0" * 32: user("other")}}, decided(BUY))
    _, page = report(file)
    assert re.search(
        r"The conversation of a.jsonl is not shown: the text '0+' .* altered", page.text
    )
    assert "Decisions" in page.heads


def test_without_a_language_model_there_is_no_conversation(file: Path) -> None:
    """Neither the section nor the script."""
    play(Shop(), lambda _: {"do": "sell", "teas": 2}, record=file)
    _, page = report(file)
    assert "Conversation" not in page.heads
    assert "script" not in page.tags


def test_whole_belongs_to_records(tmp_path: Path) -> None:
    """The folder of a sweep has no conversation."""
    with pytest.raises(UsageError, match="--whole belongs to the report about records"):
        write_report([tmp_path], whole=True)
