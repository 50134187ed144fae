"""Commands that look: list, schema, baselines, report."""
