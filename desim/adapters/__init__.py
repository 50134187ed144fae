"""Adapters for other libraries: one module for each, imported only when it is used.

Each drives a `SteppedSession`, which stops when one of its caller's roles decides. A role may see
its observation, the rules of the world and the tables that the world offers it.
"""
