"""Many episodes of one model at once, as arrays: one lane is one episode, equal to `play`."""
