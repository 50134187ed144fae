"""Sweeps: many episodes (models x parameters x policies x seeds), their rows and their tables.

From the bottom up:

* `combinations`, `entries`, `variants`, `jobs`, `grid`: what is played. A `Grid` is the list of
  all jobs.
* `design`: points that are played instead of all combinations, and what their rows show.
* `worker`: plays one job and returns its row.
* `messages`, `executors`, `pool_executor`, `process_executor`, `dask_executor`, `warm_pool`: where
  jobs are played, and how they get there.
* `chunks`, `store`, `checkpoint`: which jobs are left, and where finished rows are kept.
  `fingerprint`, `sources`, `code_digests`: what the rows depend on.
* `packed`, `columns`, `tables`, `groups`, `rows`: rows in little memory, by column, compared in
  groups, printed and written. `frames`, `tidy_series`: as data frames and Parquet files.
* `sweep`: plays a grid and returns its rows. `config` reads a sweep from options or a TOML file;
  `leaderboard` plays and ranks the baselines; `aggregates` compares policies over several worlds.
* `playing`: plays some jobs of a grid after others; `same_episodes`: which rows are copies of one
  that was played. `until`: batches of seeds until intervals are narrow. `selecting`: only what a
  selection of the best needs.
* `compared_branches`, `regret`: decisions on record against others. `regret_questions` (which),
  `regret_judge` (plays one), `regret_judging` (all, in worker processes: `in_workers`),
  `regret_store` (goes on after a stop), `regret_table`; `alternatives`: what their tables share.
* `ranges`: ranges and choices of searches and designs. `tuning_study`, `tuned`, `tuning_search`,
  `tune`: searches the best parameters.
"""
