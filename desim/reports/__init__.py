"""Reports: one HTML file about a sweep, a suite or recorded episodes, which opens offline.

From the bottom up:

* `page`: what a report is made of: sections, tables, figures, texts. Nothing there is markup.
* `drawing`, `charts`: figures as pictures inside the page; need matplotlib.
* `estimates`, `factors`: means of groups of rows, and what varies among them.
* `leaderboards`, `effects`, `fans`, `endings`, `plans`: the sections about a sweep.
* `timeline`, `measured`, `episode_series`, `series_charts`: the series of an episode as plots.
* `replayed`, `record_read`: a record, and what it gives when it is played again.
* `record_comparison`, `record_series`, `record_statements`, `record_decisions`: the sections about
  records.
* `sweep_page`, `suite_page`, `record_page`: the three kinds of reports.
* `rendering`, `writing`, `report`: a page as HTML, the file, and what is in a folder.
* `episode_plot`, `regret_plot`, `plot_file`: pictures that commands write as files of their own.
"""
