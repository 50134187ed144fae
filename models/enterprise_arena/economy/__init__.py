"""Macro tables and drawn histories."""
