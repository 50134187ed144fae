"""Canonical JSON, keys and signatures."""
