"""The rules of YC-Bench in words, for the founder."""

__all__ = ["RULES"]

RULES = """You are the head of a start-up. Over the run make its funds and its prestige grow, \
and never let it go bankrupt.

Every turn, go through the same loop: browse the market, accept a task, assign people to it, \
dispatch it, resume the clock. Run several tasks at once where people are free for them. Time \
passes only when you resume.

How the world works:
- Everybody assigned to a task gets a raise when it is done in time.
- Somebody who works on several tasks at once divides their rate among them.
- A task that is done after its deadline costs prestige instead of earning money.
- A client's trust grows with work done for it: it lessens the work and opens better tasks; trust \
of the other clients fades meanwhile.
- Some clients are not reliable.
- Salaries are paid every month; a company whose funds fall below zero is bankrupt.
- Prestige is counted by domain, and better tasks need more of it."""
