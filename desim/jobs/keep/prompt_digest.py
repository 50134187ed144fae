"""A digest of the prompt of an episode, which is the same for all episodes of one prompt.

It covers what the first request of a role says whatever is observed: the system's text, the tools
and the form of the answer. Left out are numbers, a text that has words of the observation, and that
of a policy that has learned or that chooses between methods, which says what is on record beside
it. A prompt that changes with its code changes the digest of the code too.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from desim.records.conversation import RecordedCall, digest_of, recorded_calls, without_floats
from desim.records.episode import Episode

#: Keys of transcript entries with what a policy has learned.
_LEARNED = {"learned", "memory", "router"}

#: Hexadecimal digits of a digest; texts in an observation with which the system's text counts.
_DIGITS, _MAX_WORDS = 16, 1_000


def prompt_digest(episode: Episode) -> str:
    """Return a digest of the prompts of an episode; empty if no request is on record with texts."""
    first: dict[str, RecordedCall] = {}
    for call in recorded_calls(episode.transcript):
        if call.digest and call.phase == "step":
            first.setdefault(call.role, call)
    if not first:
        return ""
    learned = {
        each.role
        for each in episode.transcript
        if isinstance(each.entry, dict) and _LEARNED & each.entry.keys()
    }
    seen = _first_observations(episode, first)
    prompts = {
        role: [
            "" if role in learned else _unchanging(call, seen.get(role)),
            without_floats(list(call.tools)),
            without_floats(call.fields.get("response_format")),
        ]
        for role, call in first.items()
    }
    return digest_of(prompts)[:_DIGITS]


def _first_observations(episode: Episode, roles: Iterable[str]) -> dict[str, Any]:
    """Return the first observation of each role that has decided."""
    left, seen = set(roles), dict[str, Any]()
    for step in episode.steps:
        if step.role in left:
            left.remove(step.role)
            seen[step.role] = step.observation
        if not left:
            break
    return seen


def _unchanging(call: RecordedCall, observation: Any) -> str:
    """Return the system's text of a request without numbers; empty if it has observed words.

    To leave out the words alone would also take those away that are in every prompt.
    """
    texts = [str(one.get("content")) for one in call.messages if one.get("role") == "system"]
    words = {*_words(observation)}
    if len(words) > _MAX_WORDS:
        return ""
    text = re.sub(r"(?<!\w)\d+(?!\w)", "", "\n".join(texts))
    observed = "|".join(map(re.escape, words))
    return "" if words and re.search(rf"(?<!\w)(?:{observed})(?!\w)", text) else text


def _words(observation: Any) -> Iterator[str]:
    """Yield the texts in an observation."""
    if isinstance(observation, str):
        yield from filter(None, [observation])
    elif isinstance(observation, dict):
        for value in observation.values():
            yield from _words(value)
    elif isinstance(observation, list):
        for value in observation:
            yield from _words(value)
