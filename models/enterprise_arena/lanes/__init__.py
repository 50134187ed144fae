"""Many episodes of the lender on arrays: one lane is one episode, equal to `play`."""
