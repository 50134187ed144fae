"""Many episodes: models x parameters x policies x seeds, played anywhere, to rows and tables.

`grid` says what is played (`axes`, `lineups`), `jobs` plays one, `executors` and `cluster` say
where, `chunks` deals them out, `store` and `journal` keep the rows, `rows` and `tables` compare
them; `asked` reads what the command line wants, `leaderboard` is its main job.
"""
