"""A world behind the Model Context Protocol: its tools, its episodes, what a client may not do."""

import asyncio
import gc
import json
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, ClassVar

import pytest

from desim import Policy

pytest.importorskip("mcp")

import anyio
from support.adapters import CASES, played
from support.agents import answered
from support.mcp_agent import Agent, Refused, in_memory
from support.two_questions import Workshop

from desim.adapters.mcp_episodes import Episodes
from desim.adapters.seat.setup import Setup
from desim.core.model import rules_of
from desim.errors import DesimError, UsageError
from desim.records.episode import Episode
from desim.records.record_lock import RecordLock
from models.beer_game import Order, Stage

BEER = CASES[0]


class Blocks(Policy):
    """A policy that keeps its thread until `free` is set."""

    free: ClassVar[threading.Event] = threading.Event()

    def decide(self, stage: Stage) -> Order:
        """Wait, then order what was ordered."""
        assert self.free.wait(30)
        return Order(stage.incoming_order)


class FailsOnce(Policy):
    """A policy whose first decision fails."""

    failed: ClassVar[bool] = False

    def decide(self, stage: Stage) -> Order:
        """Fail once."""
        if not FailsOnce.failed:
            FailsOnce.failed = True
            raise RuntimeError("out of order")
        return Order(stage.incoming_order)


def beer(**others: Any) -> Setup:
    """Return a beer game whose retailer is the client's."""
    options: dict[str, Any] = {"others": others or "order_up_to"}
    return Setup.of("beer_game", "poisson", seats="retailer", **options)


def with_agent(
    test: Callable[[Agent], Coroutine[Any, Any, None]], episodes: Episodes | None = None
) -> None:
    """Run a test with an agent that is connected with a server in this process."""

    async def run() -> None:
        async with in_memory(episodes or Episodes(beer())) as agent:
            await test(agent)

    asyncio.run(run())


def open_descriptors() -> int:
    """Return how many descriptors this process has open."""
    return len(list(Path("/dev/fd").iterdir()))


def four(_: Any) -> tuple[str, dict[str, Any]]:
    """Order four."""
    return "order", {"quantity": 4}


async def content(episodes: Episodes, name: str, **arguments: Any) -> Any:
    """Call a tool without a transport; return what it returns, or the sentence of its refusal."""
    try:
        return await episodes.call(name, arguments)
    except DesimError as fault:
        return str(fault)


async def to_the_end(episodes: Episodes, seen: Any) -> Any:
    """Play an episode to its end by orders of four."""
    while not seen["done"]:
        seen = await content(episodes, "order", quantity=4, episode=seen["episode"])
    return seen


# -- tools and texts -------------------------------------------------------------------------------


def test_actions_are_tools_with_the_schema_of_their_arguments() -> None:
    """Name, description and schema are the action's, with the id of the episode; rules come too."""

    async def test(agent: Agent) -> None:
        tools = await agent.tools()
        own = {"begin_episode", "resume_episode", "close_episode"}
        assert set(tools) == {"order", "look_up_table", *own}
        schema = tools["order"]["inputSchema"]
        assert set(schema["properties"]) == {"quantity", "episode"}
        assert schema["required"] == ["quantity", "episode"]
        assert schema["additionalProperties"] is False
        assert tools["order"]["description"] == Order.__doc__.splitlines()[0]
        assert "begin_episode begins an episode" in agent.instructions
        assert agent.instructions.endswith(rules_of(beer().model, "retailer"))
        with pytest.raises(Refused, match="did you mean 'order'"):
            await agent.call("ordr")

    with_agent(test)


def test_what_has_no_tools_of_its_own_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several seats, and an action with the name of a tool of the server."""
    with pytest.raises(UsageError, match="one seat is played by tools; 4 were given"):
        Episodes(CASES[1].setup())
    monkeypatch.setattr("desim.adapters.mcp_episodes._TEXTS", {"order": ""})
    with pytest.raises(UsageError, match="action 'order' cannot be served"):
        Episodes(beer())


# -- episodes --------------------------------------------------------------------------------------


def test_a_client_plays_episodes_by_their_ids() -> None:
    """Several at once; seeds differ, and the end can be read again."""

    async def test(agent: Agent) -> None:
        with pytest.raises(Refused, match="give the episode, the id that begin_episode returned"):
            await agent.call("order", quantity=4)
        ended = await agent.play(four, await agent.call("begin_episode", seed=1))
        assert await agent.call("resume_episode") == ended
        with pytest.raises(Refused, match="the episode is over"):
            await agent.call("order", quantity=4)
        first = await agent.call("begin_episode", seed=1)
        other = await agent.play(four, await agent.call("begin_episode", seed=2))
        agent.episode = {"episode": first["episode"]}
        again = await agent.play(four, first)
        assert again["ended"] == ended["ended"]
        assert again["episode"] != ended["episode"]
        assert other["ended"]["ledger_digest"] != ended["ended"]["ledger_digest"]

    with_agent(test)


def test_a_turn_names_what_is_possible_now() -> None:
    """Observations of a role with two questions are tagged."""

    async def test(agent: Agent) -> None:
        turns = [await agent.call("begin_episode", seed=1), await agent.call("save", amount=10)]
        assert [turn["possible"] for turn in turns] == [["save"], ["repair"]]
        assert [turn["observation"]["do"] for turn in turns] == ["closing", "breakdown"]
        with pytest.raises(Refused, match="'save' cannot be called now"):
            await agent.call("save", amount=10)

    with_agent(test, Episodes(Setup.of(Workshop(strict=True), seats="owner")))


BAD_CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("order", {}, "quantity"),
    ("order", {"quantity": "four"}, "quantity"),
    ("order", {"quantity": None}, "quantity"),
    ("order", {"quantity": float("nan")}, ""),
    ("order", {"quantity": 10**400}, ""),
    ("order", {"quantity": [[[[4]]]]}, "quantity"),
    ("order", {"quantity": 4, "price": 3}, "price"),
    ("order", {"quantity": 4, "episode": 7}, "no open episode"),
    ("order", {"quantity": 4, "episode": "0" * 32}, "no open episode"),
    ("order", {"quantity": 4, "episode": "../../etc/passwd"}, "no open episode"),
    ("begin_episode", {"sed": 3}, "did you mean 'seed'"),
    ("resume_episode", {"episode": 3}, "no episode of this id"),
    ("resume_episode", {"all": True}, "argument 'all' was given"),
    ("look_up_table", {"table": "state"}, "table 'state' was given"),
    ("look_up_table", {"table": {"a": 1}}, "was given"),
]


def test_a_bad_call_gets_a_sentence_and_changes_nothing() -> None:
    """The episode ends exactly as it would have without them."""
    direct = played(BEER, 5)

    async def run() -> None:
        episodes = Episodes(BEER.setup())
        seen = await content(episodes, "begin_episode", seed=5)
        name = {"episode": seen["episode"]}
        for tool, arguments, says in BAD_CALLS:
            given = arguments if tool == "begin_episode" else {**name, **arguments}
            refused = await content(episodes, tool, **given)
            assert isinstance(refused, str), (tool, arguments)
            assert says in refused, (tool, arguments)
            assert len(refused) < 1000
            assert await content(episodes, "resume_episode", **name) == seen
        for action in direct.answers["retailer"]:
            seen = await content(episodes, "order", quantity=action["quantity"], **name)
        assert seen["ended"]["ledger_digest"] == direct.digest

    asyncio.run(run())


def test_a_seat_sees_its_own_tables() -> None:
    """The same rows as the session's."""

    async def test(agent: Agent) -> None:
        await agent.call("begin_episode", seed=0)
        await agent.call("order", quantity=4)
        with beer().begin(0) as session:
            answered(session, {"do": "order", "quantity": 4})
            for name, rows in session.tables("retailer").items():
                shown = await agent.call("look_up_table", table=name)
                assert shown["rows"] == len(rows)
                assert shown["last"] == json.loads(json.dumps([dict(row) for row in rows]))

    with_agent(test)


def test_a_server_may_choose_the_seeds(tmp_path: Path) -> None:
    """Its records hold them and no reply does; a client that gives one is refused."""

    async def run() -> None:
        episodes = Episodes(beer(), records=tmp_path, seeds=range(7, 9))
        assert list(episodes.tools["begin_episode"].fields) == []
        assert "argument 'seed' was given" in await content(episodes, "begin_episode", seed=7)
        played = []
        for _ in range(3):
            begun = await content(episodes, "begin_episode")
            played.append(Episode.read(tmp_path / f"{begun['episode']}.jsonl", whole=False))
            await content(episodes, "close_episode", episode=begun["episode"])
        assert [one.header.seed for one in played] == [7, 8, 7]

    asyncio.run(run())


def test_so_many_episodes_are_open_at_once() -> None:
    """One that was closed, or has not been called for long, makes room."""

    async def run() -> None:
        episodes = Episodes(beer(), most=2)
        first, _ = [await content(episodes, "begin_episode", seed=seed) for seed in (1, 2)]
        assert "2 episodes are open" in await content(episodes, "begin_episode")
        await content(episodes, "close_episode", episode=first["episode"])
        third = await content(episodes, "begin_episode")
        assert "no open" in await content(episodes, "order", quantity=1, episode=first["episode"])
        await episodes.close_unused(0)
        assert episodes.open == 0
        assert "no open" in await content(episodes, "order", quantity=1, episode=third["episode"])

    asyncio.run(run())


def test_a_policy_that_computes_for_long_stalls_no_other_client() -> None:
    """One client's episode ends while the policy in another's is still deciding."""
    Blocks.free.clear()

    async def run() -> None:
        slow, fast = (Episodes(beer(**one)) for one in ({"wholesaler": Blocks}, {}))
        seen = await content(slow, "begin_episode")
        started: list[Any] = []

        async def order() -> None:
            started.append(await content(slow, "order", quantity=4, episode=seen["episode"]))

        async with anyio.create_task_group() as group:
            group.start_soon(order)
            assert (await to_the_end(fast, await content(fast, "begin_episode")))["done"]
            assert started == []
            Blocks.free.set()
        assert started[0]["done"] is False

    asyncio.run(run())


def test_an_episode_with_a_failed_policy_goes_on_from_its_record(tmp_path: Path) -> None:
    """The client's answer is on record."""
    FailsOnce.failed = False

    async def run() -> None:
        episodes = Episodes(beer(wholesaler=FailsOnce), records=tmp_path)
        name = {"episode": (await content(episodes, "begin_episode"))["episode"]}
        assert "out of order" in await content(episodes, "order", quantity=4, **name)
        assert "resume_episode goes on" in await content(episodes, "order", quantity=4, **name)
        assert (await content(episodes, "resume_episode", **name))["observation"]["week"] == 2
        await episodes.close_unused()

    asyncio.run(run())


# -- records and resumption ------------------------------------------------------------------------


def test_an_episode_is_resumed_by_its_id_after_a_restart(tmp_path: Path) -> None:
    """It returns the open observation, and ends as it would have without the restart."""

    async def run() -> None:
        old, new = (Episodes(beer(), records=tmp_path) for _ in range(2))
        whole = await to_the_end(old, await content(old, "begin_episode", seed=5))
        name = {"episode": (await content(old, "begin_episode", seed=5))["episode"]}
        for _ in range(7):
            seen = await content(old, "order", quantity=4, **name)
        held = await content(new, "resume_episode", **name)
        assert held.startswith(f"episode {name['episode']} is being played elsewhere")
        await content(old, "close_episode", **name)
        resumed = await content(new, "resume_episode", **name)
        assert resumed["observation"] == seen["observation"]
        assert resumed["reward"] == 0
        ended = await to_the_end(new, resumed)
        assert ended["ended"] == whole["ended"]
        assert "has ended, with score" in await content(old, "resume_episode", **name)

    asyncio.run(run())
    assert not list(tmp_path.glob("*.lock"))


def test_what_cannot_be_resumed_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """No file outside the folder is looked at, and no path is in an answer."""

    async def run() -> None:
        episodes = Episodes(beer(), records=tmp_path / "records")
        name = (await content(episodes, "begin_episode"))["episode"]
        await content(episodes, "order", quantity=4, episode=name)
        await episodes.close_unused()
        file = tmp_path / "records" / f"{name}.jsonl"
        (tmp_path / f"{name}.jsonl").write_bytes(file.read_bytes())
        for given in (f"../{name}", f"{name}.jsonl", str(file), "0" * 32, "", name.upper() + "0"):
            said = await content(episodes, "resume_episode", episode=given)
            assert said == "no episode of this id can be resumed here"
        other = Episodes(beer(factory="sterman"), records=tmp_path / "records")
        said = await content(other, "resume_episode", episode=name)
        assert said.endswith("is of another world, other seats or other policies")
        none = Episodes(beer())
        assert "keeps no records" in await content(none, "resume_episode", episode=name)
        lines = file.read_bytes().splitlines()
        file.write_bytes(b"\n".join([lines[0], b"{}", *lines[1:]]))
        said = await content(episodes, "resume_episode", episode=name)
        assert isinstance(said, str)
        assert str(tmp_path) not in said
        assert episodes.open == 0
        with RecordLock(file):  # it was released
            pass

    asyncio.run(run())


def test_a_hundred_episodes_leave_nothing_behind(tmp_path: Path) -> None:
    """No file handle, lock or further thread."""
    setup = Setup.of("beer_game", "poisson", seats="retailer", params={"horizon": 4})
    episodes = Episodes(setup, records=tmp_path, most=3)

    async def test(agent: Agent) -> None:
        counts = []
        for seed in range(100):
            await agent.play(four, await agent.call("begin_episode", seed=seed))
            if seed in (9, 99):
                gc.collect()
                counts.append((open_descriptors(), threading.active_count()))
        assert counts[0] == counts[1]
        assert episodes.open == 0

    with_agent(test, episodes)
    assert len(list(tmp_path.iterdir())) == 100
