"""An episode on disk: lines, reading, writing, locks, tables. Plays nothing."""
