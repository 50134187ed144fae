"""A world behind the Model Context Protocol, for any agent that speaks it.

Tried with release 2.3.0 of the package `mcp`. In the protocol of 2026-07-28, which has no sessions,
a call names its episode.

The actions of the seats are tools of the same names. Further tools begin, show and close an
episode and look up the tables of the world.
"""

from desim.adapters.mcp.serving import serve

__all__ = ["serve"]
