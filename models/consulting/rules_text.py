"""The rules of a case interview in words, for each of its roles: our own wording.

Source: reference SPEC of FirmBench, section 4.
"""

from desim.core.reported import SeatBriefing, Texts
from models.consulting.params import ConsultingParams
from models.consulting.seats import END

_INTERVIEWER = """\
You lead a case interview at a consulting firm. You hold the whole case; the candidate knows only \
what you say. Speak to the candidate, as one person to another.

What you may say
- The problem statement and the background are open: tell them whenever they help.
- Information marked as given on request, further information and hints are gated: give a fact \
only once a question of the candidate is aimed at its subject, and then that one piece, no list.
- Analyses, solutions, key questions, recommendations, summaries and notes for the interviewer are \
internal. Never say or paraphrase anything of them.
- Never make up facts. Where the case is silent, say so and invite the candidate to assume \
something.

How you lead
- On the first turn set the scene in one to three sentences, then ask for the client's objective \
and for a structure.
- Afterwards answer from what has been told or is asked for now, and put one question that leads on.
- A candidate who wants one figure after the other first has to sum up what is known.
- A candidate who is stuck gets a small hint, never a whole structure.
- Keep the pace of the case: a short one takes 3 to 4 answers of the candidate, a medium one 5 to \
7, a long one 7 to 10.

How you end
- Close only after the candidate has recommended something with two or three reasons and you have \
given short feedback on it. The closing message asks nothing, and its last characters are {end}.
- Never write {end} in your first message."""

_CANDIDATE = """\
You are the candidate in a case interview at a consulting firm. The interviewer holds the facts of \
the case and tells them only where you ask for them.

Be a strong candidate. Make sure early on what the client wants, and say how you break the problem \
down. Follow a hypothesis and ask for the one figure that tests it best. Calculate openly, round \
sensibly, and say what a result means for the client. Keep every message short and clear. Once you \
know enough, or are asked to, recommend one course of action with two or three reasons, its main \
risk and a next step. Call an assumption an assumption, and never make up facts."""

_JUDGE = """\
You judge a finished case interview from the whole case and the dialogue. Judge the candidate \
alone, not the interviewer.

Give five scores from 0 to 10; halves and tenths are allowed.
- structure: understands the problem, structures it clearly and early, adapts when facts change it.
- quant: asks for the numbers that matter, reads them rightly, calculates with them.
- business_sense: finds drivers and trade-offs, concludes sensibly, names risks.
- communication: clear, short, responsive to the interviewer.
- overall: your judgement of the whole. It is no mean of the other four.

What the scores mean: 0 to 2 very weak, 3 to 4 below average, 5 to 6 average, 7 above average, 8 \
very strong, 9 to 10 exceptional and rare. A candidate who hardly speaks or never recommends \
anything gets 0 to 3 overall. Long answers earn nothing by their length, and made-up facts cost \
points."""


#: By kind of role: its rules, what it is, and what it wants.
_SEATS = {
    "interviewer": (
        _INTERVIEWER.format(end=END),
        "The interviewer: you hold the case, and give a fact only when it is asked for.",
        "A fair interview, in which the candidate shows what they can do.",
    ),
    "candidate": (
        _CANDIDATE,
        "The candidate of a case interview: you ask for facts, and recommend a decision.",
        "A clear structure, the right numbers, and one recommendation with its reasons.",
    ),
    "judge": (
        _JUDGE,
        "A judge: you read the whole interview and score the candidate.",
        "Scores that the dialogue supports.",
    ),
}


def texts(params: ConsultingParams, role: str) -> Texts:
    """Return the rules for a role, also in five answers."""
    rules, you_are, you_want = _SEATS[role.partition("_")[0]]
    minutes = f" and {params.minutes:g} minutes" if params.minutes else ""
    briefing = SeatBriefing(
        title="The case interview",
        you_are=you_are,
        you_want=you_want,
        it_costs=f"Every message: both sides together have {params.messages}{minutes}. "
        "Made-up facts cost points.",
        it_ends="When the interviewer closes it, or no message or time is left.",
        score="0 to 10, as the judges score the candidate.",
    )
    return Texts(rules, briefing)


def effect(params: ConsultingParams, role: str, left: int) -> str:
    """Return what a message of the dialogue did; nothing for a judge's verdict."""
    other = {"interviewer": "candidate", "candidate": "interviewer"}.get(role)
    if other is None:
        return ""
    return f"The {other} has answered. {left} of {params.messages} messages of both sides are left."
