"""Commands that play one episode: run, play, serve."""
