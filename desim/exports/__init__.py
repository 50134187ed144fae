"""Episodes and suites in the formats of others.

* `messages`, `call_forms`: an episode as chat messages, which all formats begin with.
* `atif`, `atif_record`: a record as a trajectory of Harbor, and a record made of such a trajectory.
* `suite_scores`: the episodes and the scores of a suite by world and entry.
* `inspect_log`: logs of Inspect AI. `every_eval_ever`, `every_eval_samples`: results of Every
  Eval Ever.
"""
