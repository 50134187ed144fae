"""Words for the sentences of findings."""


def counted(number: int, one: str, several: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "seed"), counted(2_000, "class", "classes")
    ('1 seed', '2,000 classes')
    """
    return f"{number:,} {one if number == 1 else several or one + 's'}"
