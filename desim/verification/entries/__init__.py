"""The folder of an entry and its manifest."""
