"""Episodes for the tools of others: one module an ecosystem, imported only when it is used.

Each adapter drives a `SteppedSession`, which stops wherever one of its caller's roles decides. What
a role may see is its observation, the rules of the world and the tables that the world offers it.
"""
