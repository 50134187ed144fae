"""A world behind OpenEnv: `server` serves it, `package` writes what `openenv validate` reads.

Only `server`, `environment` and `messages` need the package openenv.
"""
