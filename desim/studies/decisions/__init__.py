"""The value of single decisions: regret and branches."""
