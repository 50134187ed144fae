"""Elements of every page: charts, tables, HTML."""
