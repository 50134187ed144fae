"""An episode on disk: lines, reading, writing, locks, seals. Plays nothing."""
