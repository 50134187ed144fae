"""Many episodes: the plan, the store, the rows, and the executors that play them."""
