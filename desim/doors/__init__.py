"""Doors through which somebody outside plays: one file each, imported only when used."""
