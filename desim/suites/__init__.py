"""Suites: a whole benchmark from one TOML file, as data.

* `suite_file`: what a file may say, with all its faults at once.
* `suite_plan`: worlds x entries x seeds x repeats as a list of jobs, checked before the first is
  played. `manifest`: the suite in a folder, and what determines its episodes, code included.
* `published`, `results`: published numbers, and the columns beside them. `result_table`,
  `result_files`: what is printed and written.
* `status`: the jobs under way, and what is left.

Jobs are played by `desim.engine`: `plan/record_job`, `keep/record_folder`, `run/event_loop`.
"""
