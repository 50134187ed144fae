"""The clock and the questions that stop it: world, run, roles, models, policies, streams."""
