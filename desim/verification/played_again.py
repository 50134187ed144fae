"""Episodes on record are played again from their headers alone, into new records."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from desim.catalog.policy_finder import has_stand_in
from desim.catalog.policy_spec import Spec, label
from desim.core.model_protocols import Model, offers
from desim.core.policy_protocols import NamesPolicies, ReachesOutside, Rehearses, Resumable
from desim.episodes.driver import play_session
from desim.episodes.episode_options import EpisodeOptions
from desim.episodes.lineup import Lineup, Policies, assign, assigned, maker_of, resolve
from desim.episodes.series import episode_file, series
from desim.episodes.session import Session
from desim.errors import BadRecord, UsageError
from desim.records.episode import Episode
from desim.records.provenance import versions
from desim.suites.suite_plan import with_hosts


class NotDecidable(UsageError):
    """A check that cannot be made here, whatever the record holds."""


@frozen
class Players:
    """The world and the policies of recorded episodes.

    Attributes:
        model: The frozen parameters.
        policies: For `desim.play`.
    """

    model: Model[Any]
    policies: Policies

    def check_reach(self) -> None:
        """Check that building the policies imports and opens nothing that a stranger names.

        Raises:
            NotDecidable: A policy is a stranger's class, or would open a file or contact a host.
        """
        for one, model in assigned(self.model, self.policies):
            if reached := next(_reached(one, model), ""):
                raise NotDecidable(
                    f"policy {label(one)} needs {reached}; a stranger's record gets none (--trust)"
                )

    def lineup(self, seed: int) -> Lineup:
        """Return the policies of a first episode, with the labels that its record has.

        Raises:
            NotDecidable: A policy takes input that it cannot take from a record.
        """
        given = assign(self.model, self.policies)
        labels = {role: label(one) for role, one in given.items()}
        lineup = resolve(self.model, with_hosts(self.model, given), seed, labels)
        for role, policy in lineup.policies.items():
            if offers(policy, Resumable) and not offers(policy, Rehearses):
                raise NotDecidable(f"policy {labels[role]} cannot be asked again")
        return lineup


def play_again(players: Players, records: Sequence[Path], folder: Path) -> list[Path]:
    """Play the episodes of some records again, in a row if they are several.

    Args:
        players: The world and the policies.
        records: Whole records, of which the seeds and the transcripts are taken and nothing else.
        folder: A folder that receives the new records.

    Returns:
        The new records, in the order of the old ones.

    Raises:
        DesimError: The episodes cannot be played; a request that is not on record included.
    """
    episodes = [Episode.read(record, keep_steps=False) for record in records]
    seeds = [episode.header.seed for episode in episodes]
    return played(players, seeds, folder, episodes)


def played(
    players: Players, seeds: Sequence[int], folder: Path, past: Iterable[Episode] = ()
) -> list[Path]:
    """Play episodes with these seeds into new records; see `play_again`.

    Args:
        players: The world and the policies.
        seeds: One episode each.
        folder: Receives the records.
        past: The episodes whose transcripts language models rehearse.
    """
    lineup, episodes = players.lineup(seeds[0]), list(past)
    for role, policy in lineup.policies.items():
        if offers(policy, Rehearses):
            policy.rehearse(
                entry.entry for one in episodes for entry in one.transcript if entry.role == role
            )
    if len(seeds) > 1:
        for _ in series(players.model, lineup, seeds, record=folder):
            pass
    else:
        how = EpisodeOptions(keep_steps=False, keep_state=False)
        folder.mkdir(parents=True, exist_ok=True)
        record = episode_file(folder, 1)
        with Session(players.model, lineup, seeds[0], record, how=how) as session:
            play_session(session)
    return [episode_file(folder, number) for number in range(1, len(seeds) + 1)]


def rehearses(players: Players) -> bool:
    """Return whether one of the policies takes its input from a record, as language models do."""
    given = assigned(players.model, players.policies)
    return any(offers(maker_of(one, of), Rehearses) for one, of in given)


@contextlib.contextmanager
def same_versions(then: Mapping[str, str]) -> Iterator[None]:
    """Raise `NotDecidable` for a record that differs and was made with other versions.

    Args:
        then: The versions of Python and of packages that it was made with.

    Raises:
        NotDecidable: The block raises `BadRecord`, and the versions differ from those here.
    """
    try:
        yield
    except BadRecord as fault:
        if then == (here := versions()):
            raise
        raise NotDecidable(
            f"{fault}; it was made with {_listed(then)}, here are {_listed(here)}: verify it there"
        ) from None


def _listed(found: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in found.items()) or "unknown versions"


def _reached(one: Any, model: Model[Any]) -> Iterator[str]:
    """Yield what building a policy would import, open or contact."""
    if not isinstance(one, str):
        yield "its class"
        return
    spec = Spec.read(one)
    if ":" in spec.name and not has_stand_in(spec.name):
        yield f"the module {spec.name}"
        return
    maker = maker_of(one, model)
    if offers(maker, NamesPolicies):
        for inner in maker.inner_policies(spec.arguments):
            yield from _reached(inner, model)
    if offers(maker, Rehearses):
        yield from maker.reached_in_rehearsal(spec.arguments)
    elif offers(maker, ReachesOutside):
        yield "files or a host"
