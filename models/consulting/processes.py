"""The interview as a process: messages are events on the clock, then all judges are asked at once.

while messages, time and interviewer allow:
    the interviewer reads, thinks and speaks; an end token closes the interview
    the candidate reads, thinks and speaks
the judges score the dialogue
"""

import math
from collections.abc import Generator
from functools import partial
from typing import Any

from desim import World
from models.consulting import seats
from models.consulting.rules import interviewer, judge
from models.consulting.state import Interview

Process = Generator[Any, Any, None]

#: Replaces an empty message of the interviewer.
STOP = "Thank you for your time. We will stop here."

_SECONDS = 60


def run(world: World, interview: Interview) -> Process:
    """Hold the interview, have it judged, and end the episode."""
    while not interview.ended:
        yield from _interviewer_turn(world, interview)
        if not interview.ended:
            yield from _candidate_turn(world, interview)
    world.log.info("interview over", ended=interview.ended, messages=len(interview.lines))
    yield from _judging(world, interview)
    world.end(interview.ended)


def _interviewer_turn(world: World, interview: Interview) -> Process:
    """Ask the interviewer for a message; an empty one is a polite stop, an end token closes."""
    yield from _read_last(world, interview)
    observe = partial(_interviewer_view, interview)
    if "interviewer" in world.seats:
        say: seats.Say = yield world.ask("interviewer", observe)
    else:
        say = interviewer.message(observe())
    given = say.text if say.text.strip() else STOP + seats.END
    yield from _speak(world, interview, "interviewer", given)
    interview.closed = seats.END in given


def _candidate_turn(world: World, interview: Interview) -> Process:
    """Ask the candidate for an answer; an end token in it is removed and ends nothing."""
    yield from _read_last(world, interview)
    reply: seats.Reply = yield world.ask("candidate", partial(_candidate_view, interview))
    yield from _speak(world, interview, "candidate", reply.text)


def _judging(world: World, interview: Interview) -> Process:
    """Ask all judges at one tick, so that no verdict depends on another."""
    observe = partial(_judge_view, interview)
    roles = interview.params.judge_roles
    asked = {role: world.ask(role, observe) for role in roles if role in world.seats}
    if asked:
        yield world.all_of(asked.values())
    # Posted in the order of the roles, not of the answers.
    for role in roles:
        verdict: seats.Verdict = asked[role].action if role in asked else judge.verdict(observe())
        interview.judge(role, verdict)


# -- time ------------------------------------------------------------------------------------------


def _read_last(world: World, interview: Interview) -> Process:
    if interview.lines:
        yield from _spend(world, interview.lines[-1].message.text, interview.params.reading_speed)


def _speak(world: World, interview: Interview, speaker: seats.Speaker, given: str) -> Process:
    text = given.replace(seats.END, "").strip()
    yield from _spend(world, text, interview.params.speaking_speed)
    interview.say(speaker, text)


def _spend(world: World, text: str, speed: float) -> Process:
    """Wait for the time that a message takes at a speed in words a minute; 0 takes none."""
    if speed and (ticks := math.ceil(len(text.split()) * _SECONDS / speed)):
        yield world.timeout(ticks)


# -- observations ----------------------------------------------------------------------------------


def _candidate_view(interview: Interview) -> seats.CandidateView:
    dialogue = interview.dialogue
    return seats.CandidateView(
        case_id=interview.case.id or "unknown_case",
        last=dialogue[-1].text,
        dialogue=dialogue,
        minutes_left=interview.minutes_left,
    )


def _interviewer_view(interview: Interview) -> seats.InterviewerView:
    return seats.InterviewerView(
        case=interview.case,
        dialogue=interview.dialogue,
        messages_left=interview.messages_left,
        answers=interview.messages.balance("candidate"),
        first=not interview.lines,
        released=interview.released,
        word_limit=interview.params.word_limit,
        minutes_left=interview.minutes_left,
    )


def _judge_view(interview: Interview) -> seats.JudgeView:
    return seats.JudgeView(
        case=interview.case,
        dialogue=interview.dialogue,
        ended_by_interviewer=interview.closed,
        released=interview.released,
        word_limit=interview.params.word_limit,
    )
