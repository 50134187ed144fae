"""The beginning of an episode: a company is founded, and its calendar and founder start."""

from desim import World
from models.yc_bench.founder import founder
from models.yc_bench.founding import found, start_calendar
from models.yc_bench.params import YCBenchParams
from models.yc_bench.processes import work
from models.yc_bench.state import CompanyState

__all__ = ["begin"]


def begin(world: World, params: YCBenchParams) -> CompanyState:
    """Return the state at tick 0, with all processes started."""
    company = found(world, params)
    company.start = lambda task: world.process(work(world, company, task))
    start_calendar(world, company)
    world.process(founder(world, company))
    return company
