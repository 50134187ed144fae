"""Rules of the Beer Game that know its demand, with searches and bounds."""

from policies.informed.beer_game.perfect import Foresight, Perfect

__all__ = ["Foresight", "Perfect"]
