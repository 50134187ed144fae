"""What each role is shown of an interview under way."""

from models.consulting.observation import CandidateView, InterviewerView, JudgeView
from models.consulting.state import Interview

__all__ = ["candidate", "interviewer", "judge"]

#: What the candidate is told where a published case has no id.
_UNKNOWN = "unknown_case"


def candidate(interview: Interview) -> CandidateView:
    """Show the dialogue and nothing that only the case knows."""
    dialogue = interview.dialogue
    return CandidateView(
        case_id=interview.case.id or _UNKNOWN,
        last=dialogue[-1].text,
        dialogue=dialogue,
        minutes_left=interview.minutes_left,
    )


def interviewer(interview: Interview) -> InterviewerView:
    """Show the whole case, the dialogue and the budget."""
    return InterviewerView(
        case=interview.case,
        dialogue=interview.dialogue,
        messages_left=interview.messages_left,
        answers=interview.sent_by("candidate"),
        first=not interview.lines,
        released=interview.released,
        word_limit=interview.params.word_limit,
        minutes_left=interview.minutes_left,
    )


def judge(interview: Interview) -> JudgeView:
    """Show the whole case and the ended dialogue, and nothing of other judges."""
    return JudgeView(
        case=interview.case,
        dialogue=interview.dialogue,
        ended_by_interviewer=interview.closed,
        released=interview.released,
        word_limit=interview.params.word_limit,
    )
