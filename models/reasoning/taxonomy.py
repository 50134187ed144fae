"""The groups of items by which accuracy is reported: reference SPEC section 2."""

from collections.abc import Iterator

from models.reasoning.item import Item

__all__ = ["bucket", "groups", "slug"]

#: Capabilities whose items are put into buckets of difficulty.
_BUCKETED = ("Numerical Calculation", "Domain Knowledge")

#: The largest difficulty of the buckets easy and middle.
_EASY, _MIDDLE = 3, 6


def bucket(capability: str, difficulty: float | None) -> str:
    """Return easy, middle, hard, or none for a capability without buckets and for no label."""
    if capability not in _BUCKETED or difficulty is None:
        return "none"
    if difficulty <= _EASY:
        return "easy"
    return "middle" if difficulty <= _MIDDLE else "hard"


def groups(item: Item) -> Iterator[str]:
    """Yield the names of the capability and the bucket that an item belongs to, if it has any."""
    if not item.capability:
        return
    name = slug(item.capability)
    yield name
    level = bucket(item.capability, item.difficulty)
    if level != "none":
        yield f"{name}_{level}"


def slug(name: str) -> str:
    """Return a name as the part of a metric's name: "SEC-NUM" is `sec_num`."""
    return "".join(char if char.isalnum() else "_" for char in name.lower())
