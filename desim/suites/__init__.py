"""Suites: a whole benchmark from one TOML file, one record an episode, in a folder of its own.

From the bottom up:

* `toml_table`, `schema`: what a file may say, with all its faults at once.
* `entry_faults`, `plan`: worlds x entries x seeds x repeats as a list of jobs, checked before the
  first is played. `identity`: what determines the episodes, code included.
* `ledger`, `job_budget`: what was spent, on disk as it is spent, and the limits on it.
* `outcome`, `journal`: the outcome of each job, kept with checksums. `manifest`: the suite as data.
* `folder`: keeps all of these and the records. `recorded_spending`: what the records say was spent.
* `episode`: plays or resumes one job. `series`: one that is several episodes in a row.
* `runner`: all of them, in coroutines and processes.
* `published`, `figures`, `results`: the published numbers, the columns, the lines of tables.
* `apart`: how many seeds tell two entries apart. `result_table`, `result_files`: what is shown.
* `check`: what differs between records and outcomes.
* `expected`: what the episodes that are left will cost. `status`: what runs now.
"""
