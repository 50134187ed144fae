"""The refusal of a mean over episodes of two prompts, or of two versions of the policies' code."""

from collections.abc import Iterable

from desim.errors import UsageError
from desim.jobs.keep.outcome import Played
from desim.suites.suite_plan import SuiteJob

#: Facts that all episodes of an entry in a world share, by the field of an outcome.
_COMMON = {"prompt": "prompts", "code": "versions of the policies' code"}

#: Seeds that an error text lists for each version.
_SEEDS = 3


def check_one_version(world: str, entry: str, played: Iterable[tuple[SuiteJob, Played]]) -> None:
    """Check that the episodes of an entry in a world may be averaged.

    Records of format 3 state neither a prompt nor a code, and are averaged with any.

    Args:
        world: The name of the world.
        entry: The name of the entry.
        played: The episodes with their jobs.

    Raises:
        UsageError: Two of them state different prompts or different code; the text names both.
    """
    known = list(played)
    for name, what in _COMMON.items():
        seeds: dict[str, list[int]] = {}
        for job, one in known:
            if version := getattr(one, name):
                seeds.setdefault(version, []).append(job.seeds[one.episode - 1])
        if len(seeds) > 1:
            named = " and ".join(f"{key} ({_listed(each)})" for key, each in seeds.items())
            raise UsageError(
                f"the episodes of {entry} in {world} have {len(seeds)} {what}, {named}, so that "
                "they have no common mean; play all of them again, in another folder (--out) or in "
                "this one (--restart)"
            )


def _listed(seeds: list[int]) -> str:
    more = f" and {len(seeds) - _SEEDS} more" if len(seeds) > _SEEDS else ""
    return f"seeds {', '.join(map(str, seeds[:_SEEDS]))}{more}"
