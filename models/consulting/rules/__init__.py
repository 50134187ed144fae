"""Rules of the optional roles without a policy; the heuristics call the same functions."""
