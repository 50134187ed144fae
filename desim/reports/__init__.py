"""Reports: one HTML file about a sweep, a suite or recorded episodes, which opens offline.

From the bottom up:

* `page`: sections, tables, figures and texts, of which nothing is markup; `drawing` and `charts`
  draw with matplotlib; `html` is the page as a file.
* `record`: a record read and played again, its series as plots, and the sections about records.
* `sweep_page`, with `sweep_figures`, and `suite_page`: the reports about a sweep and a suite.
* `report`: what a path holds, and the file.
* `record.plots`, `regret_plot`: pictures that commands write as files of their own.
"""
