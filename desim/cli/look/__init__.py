"""Commands that show something: list, schema, baselines, report."""
