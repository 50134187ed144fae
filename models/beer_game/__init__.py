"""The Beer Game: a supply chain in which every stage orders from the next one up."""

from models.beer_game.actions import Order
from models.beer_game.model import BeerGame
from models.beer_game.observation import Stage
from models.beer_game.params import BeerGameParams

__all__ = ["BeerGame", "BeerGameParams", "Order", "Stage"]
