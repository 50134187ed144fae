"""Suites: a whole benchmark from one TOML file, one record an episode, in a folder of its own.

From the bottom up:

* `toml_table`, `schema`: what a file may say, with all its faults at once.
* `plan`: worlds x entries x seeds x repeats as a list of jobs, checked before the first is played.
* `ledger`, `job_budget`: what was spent, on disk as it is spent, and the limits on it.
* `outcome`, `folder`: what came of each job, and the folder that keeps records and outcomes.
* `episode`: plays or resumes one job. `runner`: all of them, in threads and processes.
* `published`, `figures`, `results`: the published numbers, the columns, the tables and files.
* `expected`: what the episodes that are left will cost. `status`: what runs now.
"""
