"""The company: clock, books, people, tasks, and the work on them."""
