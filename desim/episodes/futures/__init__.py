"""Other courses of an episode: branches and redrawn futures."""
