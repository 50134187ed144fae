"""The Beer Game: a supply chain in which every stage orders from the next one up."""

from models.beer_game.model import BeerGame
from models.beer_game.params import BeerGameParams
from models.beer_game.stage import Order, Stage

__all__ = ["BeerGame", "BeerGameParams", "Order", "Stage"]
