"""A role that is asked two questions, through every adapter that takes a model."""

import json

import pytest
from support.two_questions import Repair, Workshop

from desim.adapters.seat.setup import Setup
from desim.adapters.seat.tool_session import ToolSession
from desim.errors import WrongAction

STRICT = Workshop(strict=True)

#: The observations of the owner on the four days, who saves 10 dollars on each.
SEEN = [
    {"do": "closing", "day": 0, "cash": 0},
    {"do": "breakdown", "day": 1, "machine": "lathe"},
    {"do": "closing", "day": 2, "cash": 20},
    {"do": "breakdown", "day": 3, "machine": "lathe"},
]

ACTION = {"do": "save", "amount": 10}


def setup() -> Setup:
    """Return the workshop with its owner as the seat."""
    return Setup.of(Workshop(), seats="owner")


@pytest.mark.parametrize("flat", [False, True], ids=["whole", "flat"])
def test_gymnasium_plays_it(flat: bool) -> None:  # noqa: FBT001
    """Every observation is in the space, and says which of the two it is."""
    pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    from desim.adapters.gymnasium import SeatEnv

    env = SeatEnv(Workshop(), seat="owner", flat=flat)
    observations = [env.reset(seed=1)[0]]
    observations += [env.step(env.encode(ACTION))[0] for _ in range(3)]
    assert all(map(env.observation_space.contains, observations))
    kinds = [one[:2].tolist() if flat else int(one["kind"]) for one in observations]
    assert kinds[0] == kinds[2] != kinds[1] == kinds[3]
    assert "cash" in env.rules
    check_env(env, skip_render_check=True)


def test_a_model_with_tools_plays_it() -> None:
    """The rules name the fields of both observations."""
    with setup().begin(1) as session:
        play = ToolSession(setup(), session)
        shown = [json.loads(play.observation())]
        shown += [json.loads(play.call("save", {"amount": 10})) for _ in range(3)]
        rules = play.instructions()
    assert shown == SEEN
    assert all(text in rules for text in ("- cash: Dollars", "- machine: Its name", "closing"))


# -- questions that take some of the actions alone -------------------------------------------------


@pytest.mark.parametrize("form", ["fields", "options"])
def test_gymnasium_masks_what_is_not_possible_now(form: str) -> None:
    """A sample of the mask is an action that the question takes; another one is refused."""
    pytest.importorskip("gymnasium")
    from desim.adapters.gymnasium import SeatEnv

    env = SeatEnv(STRICT, seat="owner", action=form)
    env.action_space.seed(1)
    _, info = env.reset(seed=1)
    for _ in range(3):
        mask = info["action_mask"]
        sampled = env.action_space.sample(mask if form == "fields" else mask.astype("int8"))
        info = env.step(sampled)[4]
    with pytest.raises(WrongAction, match="expected Repair"):
        env.step(ACTION)
    assert [option.action for option in env.options] == [Repair()]
    assert env.step({"do": "repair"})[2]


def test_texts_for_models_with_tools_name_what_is_possible_now() -> None:
    """Behind the observation; a call of another tool is an error and changes nothing."""
    strict = Setup.of(STRICT, seats="owner")
    with strict.begin(1) as session:
        play = ToolSession(strict, session)
        assert play.observation().splitlines()[1:] == ["Possible now: save."]
        play.call("save", {"amount": 1})
        assert play.observation().splitlines()[1:] == ["Possible now: repair."]
        with pytest.raises(WrongAction, match="'save' cannot be called now; Possible: repair"):
            play.call("save", {"amount": 1})
        play.default()
        assert play.answers[-1] == {"do": "repair"}
