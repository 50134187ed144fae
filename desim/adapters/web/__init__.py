"""What every server shares: who may enter, how much clients may send, and for how long."""
