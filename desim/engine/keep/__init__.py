"""The store of finished episodes, and the digests of the code that they depend on."""
