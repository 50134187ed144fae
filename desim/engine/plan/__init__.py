"""Plans: models, parameters, line-ups and seeds of the episodes to play."""
