"""Commands that play many episodes: sweep, tune, regret, branch."""
