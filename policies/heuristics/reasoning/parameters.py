"""The parameters of the reasoning tasks, out of a policy's seat."""

from desim.errors import UsageError
from models.reasoning.params import ReasoningParams

__all__ = ["parameters"]


def parameters(model: object, policy: str) -> ReasoningParams:
    """Return the model of an episode as its parameters.

    Args:
        model: The model of an episode.
        policy: The name of the policy, for the error.

    Raises:
        UsageError: *model* is another model.
    """
    if not isinstance(model, ReasoningParams):
        raise UsageError(f"{policy} reads the reasoning tasks' items and plays no other world")
    return model
