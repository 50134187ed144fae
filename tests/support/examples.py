"""The number of examples of a property, relative to the profile of Hypothesis."""

from hypothesis import settings

#: Examples of a property that gives no number, in a run of all of them.
FULL = 100


def examples(number: int) -> settings:
    """Return the settings of a property that is tried on a number of examples in a full run."""
    return settings(max_examples=max(1, number * settings.default.max_examples // FULL))
