"""Debriefs: what happened in the games of several teams, on two printed pages."""
