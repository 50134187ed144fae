"""Requests to a server: limits, retries, money."""
