"""Reports: one HTML file about a sweep, a suite or recorded episodes, which opens offline.

From the bottom up:

* `elements`: sections, tables, figures and texts, of which nothing is markup; the charts, drawn by
  matplotlib; the page as HTML.
* `record`: a record read and played again, its series as plots, and the sections about records.
* `sweep`: the sections about a sweep: leaderboards, effects, series, ends.
* `report`: what a path holds, and the file; `suite_page` is the report about a suite.
* `record.episode_plot`, `regret_plot`: pictures that commands write as files of their own.
"""
