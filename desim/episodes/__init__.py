"""One episode: its policies and its record, and how a record is replayed, resumed or branched."""
