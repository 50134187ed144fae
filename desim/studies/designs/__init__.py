"""Designs of experiments: which points of a sweep's parameters are played, and what they show.

A point holds one value for each of several parameters of a model, a part, a nested scenario or a
policy: whatever `--set` can name. All points share the seeds (common random numbers).

* `latin_hypercube`, `sobol_points`, `listed`: points that cover ranges, or any list of points.
* `factorial`: two levels of each parameter, all combinations or a fraction; `effects` of the rows.
* `sobol_indices`: which parameter explains how much of the variance; `sobol` of the rows.
* `screening`: trajectories of Morris, for many parameters; `morris` of the rows.

`DesignSpec` reads the form of the command line and of a TOML file, such as `lhs:64`.
"""

from desim.jobs.plan.parameter_points import Design, Factor, listed
from desim.jobs.plan.ranges import Choices, Range
from desim.studies.designs.effects import Effect, effects
from desim.studies.designs.factorial import factorial
from desim.studies.designs.findings import Analysis
from desim.studies.designs.indices import Index, sobol, sobol_indices
from desim.studies.designs.kinds import ANALYSED, DesignSpec, analyse
from desim.studies.designs.morris import Screened, morris, screening
from desim.studies.designs.sampling import latin_hypercube, sobol_points

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
