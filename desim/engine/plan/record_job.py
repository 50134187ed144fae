"""Jobs whose episodes are recorded, each in a file of its own: an episode, or several in a row."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from desim.catalog.policy_spec import ConfiguredClass, Spec
from desim.core.model import Model
from desim.episodes.lineup import Policies, assigned, maker_of

#: The argument by which a policy names the host that it waits for, and the text of a host that it
#: takes from elsewhere, such as an environment variable.
HOST, DEFAULT_HOST = "base_url", "default"

#: The argument by which a policy names the file of what it learns.
_MEMORY = "memory"

#: Characters of a name that the name of a file replaces, and most that it keeps.
_UNSAFE, _LONGEST = re.compile(r"[^A-Za-z0-9._-]"), 60


class Built:
    """Has a model, which is missing in a plan that is only printed."""

    built: Model[Any] | None

    @property
    def model(self) -> Model[Any]:
        """The frozen parameters."""
        assert self.built is not None, "a plan to print has no models"
        return self.built


@frozen
class RecordJob(Built):
    """An episode, or a series of episodes in a row, with a record each.

    Attributes:
        name: The name of its record without an ending; safe in every file system (`safe_name`).
        built: The frozen parameters; None in a plan that is only printed.
        policies: The policies for `desim.play`.
        seeds: The seeds of its episodes.
        training: The number of its first episodes that only train the policies.
        host: The address that its policies wait for, or `DEFAULT_HOST`; empty if they wait for
            none.
        purse: The name of the limits of money that it shares with other jobs.
        known: Transcript entries that its policies get before they play; see `OutsidePolicy.reuse`.
    """

    name: str
    built: Model[Any] | None
    policies: Policies
    seeds: range
    training: int = 0
    host: str = ""
    purse: str = ""
    known: Sequence[Mapping[str, Any]] = field(default=(), repr=False)

    @property
    def episodes(self) -> int:
        """The number of its episodes."""
        return len(self.seeds)

    @property
    def is_series(self) -> bool:
        """Whether it has several episodes in a row."""
        return self.episodes > 1


def safe_name(name: str, longest: int = _LONGEST) -> str:
    """Return a name as a part of a file's name; different names stay different.

    Args:
        name: Any text.
        longest: Most characters that are kept; a digest of 8 is added where any are changed.

    >>> safe_name("GPT-5.4"), safe_name("a/b")
    ('GPT-5.4', 'a_b-c14cddc0')
    """
    safe = _UNSAFE.sub("_", name)[:longest].lstrip(".")
    if safe == name and "__" not in name:
        return name
    return f"{safe.replace('__', '_')}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def waits(model: Model[Any], policies: Policies) -> bool:
    """Return whether the episodes of some policies may wait for a host together.

    One of the policies waits for a host, as language models do, and none keeps what it learns in a
    file, which several episodes would read and write at once.

    Raises:
        UsageError: A policy does not exist.
    """
    given = list(assigned(model, policies))
    return any(host_of(*one) for one in given) and not any(_keeps_file(*one) for one in given)


def host_of(policy: Any, model: Model[Any]) -> str:
    """Return the host that a policy waits for; empty if its class declares none.

    Raises:
        UsageError: The policy does not exist.
    """
    if HOST not in maker_of(policy, model).reaches:
        return ""
    return _arguments(policy).get(HOST, DEFAULT_HOST)


def _keeps_file(policy: Any, model: Model[Any]) -> bool:
    return _MEMORY in maker_of(policy, model).reaches and bool(_arguments(policy).get(_MEMORY))


def _arguments(policy: Any) -> Mapping[str, str]:
    """Return the arguments of a spec or of a class as text."""
    if isinstance(policy, str):
        return Spec.read(policy).arguments
    return policy.arguments if isinstance(policy, ConfiguredClass) else {}
