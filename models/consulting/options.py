"""Sensible messages and verdicts for an observation, each with a quick estimate of its value."""

from desim import Option
from models.consulting.actions import Reply, Say, Verdict
from models.consulting.observation import CandidateView, InterviewerView, JudgeView
from models.consulting.rules import interviewer, judge
from models.consulting.rules.words import found

#: Questions about the dimensions of most cases, in the order in which they are worth asking.
_QUESTIONS = (
    "How large is the market, and how fast does it grow?",
    "What are the price and the unit cost?",
    "Who are the competitors, and what share do they have?",
    "What do customers value most?",
    "What investment is needed, and what are the fixed costs?",
    "What is the capacity, and how well is it used?",
    "Which risks and regulation matter?",
)

_STRUCTURE = (
    "I would look at four things: the market and its customers, competition, revenue and cost, and "
    "the risks."
)

_RECOMMENDATION = (
    "I recommend that the client goes ahead. First, because the market supports it. Second, "
    "because the margin covers the cost. The main risk is competition, which a small start limits."
)

#: Values of options: a recommendation once it is asked for, a structure at first, a question, the
#: same recommendation too early, silence.
_ASKED_FOR, _FIRST, _QUESTION, _EARLY = 10.0, 9.0, 5.0, 1.0


def replies(seen: CandidateView) -> list[Option]:
    """Return a structure, questions that were not put yet, a recommendation, and silence.

    The value is a rank: what fits the interviewer's last message comes first.
    """
    own = {each.text for each in seen.dialogue if each.role == "candidate"}
    asked_for = bool(found(["recommendation"], seen.last))
    offered = [
        Option(Reply(_RECOMMENDATION), _ASKED_FOR if asked_for else _EARLY, note="recommend"),
        Option(Reply(_STRUCTURE), 0.0 if _STRUCTURE in own else _FIRST, note="give a structure"),
    ]
    left = [each for each in _QUESTIONS if each not in own]
    offered += [
        Option(Reply(each), _QUESTION - at / 10, note="ask for data")
        for at, each in enumerate(left)
    ]
    return [*offered, Option(Reply(""), -1.0, note="say nothing")]


def default_reply(_: CandidateView) -> Reply:
    """Return an empty answer."""
    return Reply("")


def messages(seen: InterviewerView) -> list[Option]:
    """Return what the rules say now, and a polite stop."""
    return [
        Option(interviewer.message(seen), 1.0, note="by the rules"),
        Option(Say(""), 0.0, note="stop politely"),
    ]


def default_message(seen: InterviewerView) -> Say:
    """Return what the rules say now."""
    return interviewer.message(seen)


def verdicts(seen: JudgeView) -> list[Option]:
    """Return the verdict by rubric, and the lowest one."""
    return [
        Option(judge.verdict(seen), 1.0, note="by rubric"),
        Option(Verdict(0, 0, 0, 0, 0), 0.0, note="nothing to be scored"),
    ]


def default_verdict(seen: JudgeView) -> Verdict:
    """Return the verdict by rubric."""
    return judge.verdict(seen)
