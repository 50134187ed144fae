"""The identity of a suite's episodes, by topic: parameters, policies, seeds, code and files.

Topics of code and of named files are those of sweeps (`desim.sweeps.fingerprint`), under the world
or the entry that reaches them. Limits of money and columns do not count, so a folder can be
continued with other ones.
"""

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from desim import catalog
from desim.schema import to_plain
from desim.suites.plan import Plan, PlannedEntry, PlannedWorld
from desim.sweeps.fingerprint import code_topics, inside, players, topics_beyond

__all__ = ["identity", "model_text"]


def identity(plan: Plan) -> dict[str, str]:
    """Return everything that determines the episodes of a suite, by topic.

    Args:
        plan: With models, so none to print.

    Raises:
        UsageError: A source file or a named file cannot be read.
    """
    common = code_topics([])
    of_worlds = {
        name: topics_beyond(common, code_topics(inside([world.model, world.table.set])))
        for name, world in plan.worlds.items()
    }
    of_entries = {
        name: topics_beyond(common, _entry_topics(plan, entry))
        for name, entry in plan.entries.items()
    }
    return {
        **{f"worlds.{name}": model_text(world) for name, world in plan.worlds.items()},
        **{f"seeds of worlds.{name}": _seeds_text(w) for name, w in plan.worlds.items()},
        **{f"entries.{name}": _entry_text(entry) for name, entry in plan.entries.items()},
        **common,
        **dict(_named("worlds", of_worlds)),
        **dict(_named("entries", of_entries)),
    }


def model_text(world: PlannedWorld) -> str:
    """Return the model of a world with all parameters, and the options of policies in it."""
    model = [catalog.model_name(type(world.model)), to_plain(world.model)]
    return _text([*model, world.episodes, world.table.options])


def _entry_text(entry: PlannedEntry) -> str:
    return _text([entry.policies, entry.table.worlds])


def _entry_topics(plan: Plan, entry: PlannedEntry) -> dict[str, str]:
    """Return the topics of an entry's policies in the worlds that it plays."""
    worlds = {job.world.name: job.world for job in plan.jobs if job.entry is entry}
    found = (one for w in worlds.values() for one in players(w.model, entry.policies_in(w)))
    return code_topics(found)


def _named(kind: str, found: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield topics under the name of their world or entry."""
    for name, topics in found.items():
        yield from ((f"{kind}.{name}: {topic}", text) for topic, text in topics.items())


def _seeds_text(world: PlannedWorld) -> str:
    """Return the seeds of a world, consecutive ones as START:STOP, and the repeats of each."""
    runs: list[list[int]] = []
    for _, run in itertools.groupby(enumerate(world.seeds), lambda pair: pair[1] - pair[0]):
        seeds = [seed for _, seed in run]
        runs.append([seeds[0], seeds[-1] + 1])
    return f"{', '.join(f'{start}:{stop}' for start, stop in runs)} x {world.repeats}"


def _text(value: Any) -> str:
    return json.dumps(to_plain(value), sort_keys=True)
