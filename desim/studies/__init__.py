"""Studies of many episodes: sweeps, selections, boards, designs, tuning, single decisions."""
