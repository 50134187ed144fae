"""A world behind the Model Context Protocol, for any agent that speaks it.

Tried with the releases 1.29.0, 1.30.0, 2.0.0 and 2.3.0 of the package `mcp`. Under 2.x it also
speaks the protocol of 2026-07-28, which has no sessions: there a call names its episode.

The actions of the seats are tools of the same names. Further tools begin, show and close an
episode and look up the tables of the world.
"""

from desim.adapters.mcp.serving import serve

__all__ = ["serve"]
