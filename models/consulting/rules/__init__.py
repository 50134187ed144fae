"""What the optional roles do without a policy; the heuristics call the same functions."""
