"""Rows: the results of episodes, as tables and frames."""
