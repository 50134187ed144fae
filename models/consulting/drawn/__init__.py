"""Cases generated from templates, and the formulas of their figures."""
