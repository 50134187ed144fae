"""Designs of experiments: which points of a sweep's parameters are played, and what they show.

A point holds one value for each of several parameters of a model, a part, a nested scenario or a
policy: whatever `--set` can name. All points share the seeds (common random numbers).

* `latin_hypercube`, `sobol_points`, `listed`: points that cover ranges, or any list of points.
* `factorial`: two levels of each parameter, all combinations or a fraction; `effects` of the rows.
* `sobol_indices`: which parameter explains how much of the variance; `sobol` of the rows.
* `screening`: trajectories of Morris, for many parameters; `morris` of the rows.

`DesignSpec` reads the form of the command line and of a TOML file, such as `lhs:64`.
"""

from desim.sweeps.design.analysis import ANALYSED, analyse
from desim.sweeps.design.effects import Effect, effects
from desim.sweeps.design.factorial import factorial
from desim.sweeps.design.factors import Factor
from desim.sweeps.design.indices import Index, sobol, sobol_indices
from desim.sweeps.design.morris import Screened, morris, screening
from desim.sweeps.design.points import Design, listed
from desim.sweeps.design.sampling import latin_hypercube, sobol_points
from desim.sweeps.design.spec import DesignSpec
from desim.sweeps.design.tables import Analysis
from desim.sweeps.ranges import Choices, Range

__all__ = [
    "ANALYSED",
    "Analysis",
    "Choices",
    "Design",
    "DesignSpec",
    "Effect",
    "Factor",
    "Index",
    "Range",
    "Screened",
    "analyse",
    "effects",
    "factorial",
    "latin_hypercube",
    "listed",
    "morris",
    "screening",
    "sobol",
    "sobol_indices",
    "sobol_points",
]
