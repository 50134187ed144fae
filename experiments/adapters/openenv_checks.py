"""Which checks of OpenEnv's severity-v2.json does each world pass, also without its graders?

The package grades what it can (openenv_validate.py). What it ships no grader for is measured by
openenv_measures.py, with our known scores, baselines, records and digests.
"""

import sys
from collections import Counter
from collections.abc import Mapping

from openenv.validation import load_policy
from openenv_measures import FAIL, MEASURES, NONE, PASS, Found, default_share
from openenv_validate import WORLDS
from openenv_world import World, episode_facts

from desim.core.model_protocols import is_deterministic

NOT_RUN = "not run"

_DOCKER = "docker does not run here"

#: Checks whose result is the same for every world.
STATED: Mapping[str, Found] = {
    "static.reproducible_build": (NOT_RUN, f"builds two images; {_DOCKER}"),
    "static.image_hygiene": (NOT_RUN, f"looks into an image; {_DOCKER}"),
    "static.layout": (NONE, "the package ships no grader and no rule for it"),
    "static.sbom": (NOT_RUN, f"looks into an image; {_DOCKER}"),
    "static.oci_labels": (NOT_RUN, f"looks into an image; {_DOCKER}"),
    "static.dependency_pinning": (FAIL, "the container file pins desim, not what desim needs"),
    "runtime.rubric_introspectable": (NONE, "no rubric: the reward is the world's own score"),
    "runtime.reward_attribution": (NONE, "no rubric: the reward is the world's own score"),
    "runtime.network_policy": (NOT_RUN, f"measured from outside a container; {_DOCKER}"),
    "runtime.host_containment": (NOT_RUN, f"measured from outside a container; {_DOCKER}"),
    "runtime.resource_bounds": (NOT_RUN, f"enforced by a container; {_DOCKER}"),
    "runtime.oracle_containment": (NONE, "the folder holds no oracle"),
    "hub.layer_isolation": (NOT_RUN, "of the hub's images"),
    "hub.time_to_first_work": (NOT_RUN, "of the hub's images"),
    "hub.cosign_signature": (NOT_RUN, "of the hub's images"),
    "hub.cross_host_determinism": (NOT_RUN, "one host; see semantic.verifier_portability"),
    "hub.immutable_versioning": (NOT_RUN, "of the hub's registry"),
}

LEGEND = """\
pass: measured and met. FAIL: measured or known, and not met. open: not decided by what is known.
n/a: there is nothing to measure. not run: needs docker, or OpenEnv's hub. A number counts worlds;
those that do not pass are named. Shares are of the way from the floor of the known scores (0 %) to
the best known score (100 %).
"""

NOTES = """\
* semantic.oracle_max: the manifest declares no oracle, which a grader of OpenEnv's counts as a
  FAIL; what is shown is the run behind the best known score.
* statistical.variance_bound: rewards have no variance, as the same seed and actions give the same.
* canaries: every episode is played to its end. In consulting the score itself is the weak spot, not
  the limit of a tenth: its rubric by rules gives short answers all 10 points of communication, 15 %
  of the score, whatever they say, so that the one word "maximal" earns 1.5 of 10 points.
* The floor is the score of the policy that a world's known scores name, which in some worlds is
  above that of the default action: then the latter has less than 0 %.
"""


def row(check: str, worlds: Mapping[str, World]) -> str:
    """Return the result of a check in every world as a row of a table."""
    if check in STATED:
        result, why = STATED[check]
        return f"| `{check}` | {result} | {why} |"
    if check in MEASURES:
        found = {name: MEASURES[check](world) for name, world in worlds.items()}
        said = (MEASURES[check].__doc__ or "").splitlines()[0]
    else:
        found = {name: world.graded[check] for name, world in worlds.items()}
        said = "The package's own grader."
    counts = Counter(result for result, _ in found.values())
    result = (
        next(iter(counts))
        if len(counts) == 1
        else ", ".join(
            f"{count} {result}"
            for result, count in sorted(counts.items(), key=lambda each: -each[1])
        )
    )
    others = [
        f"{name} {result}: {figure}" for name, (result, figure) in found.items() if result != PASS
    ]
    return f"| `{check}` | {result} | {' '.join([said, '; '.join(others)]).rstrip()} |"


#: The columns of the table of figures, and the checks that they are of.
COLUMNS = {
    "tasks, train + test": "runtime.task_declaration_accuracy",
    "floor to best known": "semantic.floor_gap",
    "best known run": "semantic.oracle_max",
    "chance and greedy": "statistical.difficulty_separation",
    "strongest canary": "semantic.canary_floor",
    "steps with a reward": "statistical.training_signal",
    "an episode takes": "semantic.resource_envelope",
}


def figures(name: str, world: World) -> str:
    """Return the figures of a world as a row of a table."""
    cells = [MEASURES[check](world)[1] for check in COLUMNS.values()]
    kind = " (draws nothing)" if is_deterministic(world.setup.model) else ""
    return "| " + " | ".join([f"{name}{kind}", *cells, default_share(world)]) + " |"


def main() -> None:
    """Print the report; with names, of these worlds only."""
    if sys.argv[1:2] == ["--episode"]:
        print(episode_facts(sys.argv[2]))
        return
    names = sys.argv[1:] or list(WORLDS)
    worlds = {name: World.of(name, WORLDS[name]) for name in names}
    print(f"{LEGEND}\n| check | result | what is measured; deviations |\n| --- | --- | --- |")
    for entry in load_policy("v2").entries:
        print(row(entry.check_id, worlds), flush=True)
    head = ["world", *COLUMNS, "default action"]
    print(f"\n| {' | '.join(head)} |\n|{' --- |' * len(head)}")
    for name, world in worlds.items():
        print(figures(name, world), flush=True)
    print(f"\n{NOTES}", end="")


if __name__ == "__main__":
    main()
