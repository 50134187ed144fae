"""The arithmetic of effort: rounds of work in floats, as the published simulator computes them."""

# Multiples of 1 / _FINE below _LARGE leave 53 - 16 - 32 = 5 binary places for sums.
_FINE, _LARGE = 2.0**16, 2.0**32


def exact(*numbers: float) -> bool:
    """Return whether sums and differences of these doubles are exact."""
    return all(number < _LARGE and (number * _FINE).is_integer() for number in numbers)


def deliver(remaining: float, hands: int, dt: float, most: int) -> tuple[int, float, float]:
    """Deliver what a step allows, for as many equal rounds as possible.

    Effort is subtracted hand by hand, as the published simulator does, so that floats end at the
    same step; where doubles are exact, all full rounds are computed at once.

    Args:
        remaining: Effort still to deliver, at least 0.
        hands: Consultants who deliver.
        dt: Effort of one hand in one step.
        most: The largest number of rounds, at least 1.

    Returns:
        The number of rounds, the effort of each, and the effort that remains.
    """
    full = hands * dt
    if remaining >= full and exact(remaining, dt):
        rounds = min(most, int(remaining // full))
        return rounds, full, remaining - rounds * full
    delivered = 0.0
    for _ in range(hands):
        effort = min(dt, remaining)
        remaining -= effort
        delivered += effort
    return 1, delivered, remaining


def rounds_left(remaining: float, hands: int, dt: float, limit: int) -> int:
    """Return the rounds, at least 1, until no effort remains; `limit + 1` if that takes longer."""
    if not hands:
        return 1 if remaining <= 0 else limit + 1
    if exact(remaining, dt):
        return max(1, int(-(-remaining // (hands * dt))))
    rounds = 0
    while rounds <= limit and (remaining > 0 or not rounds):
        rounds += 1
        for _ in range(hands):
            remaining -= min(dt, remaining)
    return rounds
