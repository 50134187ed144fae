"""The worlds of desim as a taskset of verifiers: `vf-eval desim-worlds`.

The commands of verifiers import a taskset by the name of a package of its own, which must name it
in `__all__`; a name with dots is not found. See `desim.adapters.verifiers`.
"""

from desim.adapters.verifiers import WorldEnv, WorldHarness, WorldTaskset, load_environment

__all__ = ["WorldEnv", "WorldHarness", "WorldTaskset", "load_environment"]
