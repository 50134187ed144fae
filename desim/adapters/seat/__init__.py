"""The environment base, the tools and the texts that all adapters share."""
