"""Sealed sessions: episodes on a server, with seeds that are secret until the end."""
