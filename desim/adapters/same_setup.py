"""Whether a record is of an episode that a setup would play."""

from desim.adapters.setup import Setup
from desim.catalog.policy_spec import label as label_of
from desim.records.lines import Header

__all__ = ["is_same_setup"]


def is_same_setup(setup: Setup, recorded: Header, label: str) -> bool:
    """Return whether a header has the world, the seats and the policies of a setup.

    Args:
        setup: What is played.
        recorded: The header.
        label: The caller's name as a policy, as given to `Setup.begin`.
    """
    labels = dict.fromkeys(setup.seats, label)
    labels |= {role: label_of(policy) for role, policy in setup.others.items()}
    mine = Header.of(setup.model, recorded.seed, labels)
    return (mine.model, mine.params, mine.policies, mine.futures) == (
        recorded.model,
        recorded.params,
        recorded.policies,
        recorded.futures,
    )
