"""The rules that a player may know: all but how people are drawn."""

from attrs import fields, frozen

from models.yc_bench.rules.growth import GrowthRules
from models.yc_bench.rules.market import MarketRules
from models.yc_bench.rules.office_hours import OfficeHours
from models.yc_bench.rules.trust import TrustRules
from models.yc_bench.rules.work import WorkRules

__all__ = ["PublicRules"]


@frozen(kw_only=True, slots=False)
class PublicRules(MarketRules, OfficeHours, WorkRules, GrowthRules, TrustRules):
    """The rules of the market, of time, work, growth and trust."""

    @property
    def public(self) -> "PublicRules":
        """These rules alone, without the people, the world file and the console."""
        values = {each.name: getattr(self, each.name) for each in fields(PublicRules)}
        return PublicRules(**values)
