"""A whole benchmark as one file: worlds, entries, seeds, limits, published rows.

* `suite_file`: what a file may say. `suite_plan`: its jobs. `play`: a sweep plays them.
* `suite_folder`: outcomes as data. `results`, `result_table`: what they say, as tables and files.
* `expected`: what is left, and what it takes. `verify`: whether a folder is what it claims to be.
"""
