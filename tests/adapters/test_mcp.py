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
from support.mcp_agent import Agent, Refused, in_memory

from desim.adapters.mcp import ToolSet
from desim.adapters.mcp_episodes import Episodes
from desim.adapters.seat.setup import Setup
from desim.core.model import rules_of
from desim.errors import DesimError
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


async def content(tools: ToolSet, client: str | None, name: str, **arguments: Any) -> Any:
    """Call a tool without a transport, for a client of this name; return what it returns."""
    try:
        return await tools.call(client, name, arguments)
    except DesimError as fault:
        return str(fault)


async def to_the_end(tools: ToolSet, seen: Any, client: str | None = None) -> Any:
    """Play an episode to its end by orders of four."""
    while not seen["done"]:
        seen = await content(tools, client, "order", quantity=4, episode=seen["episode"])
    return seen


# -- tools and texts -------------------------------------------------------------------------------


def test_actions_are_tools_with_the_schema_of_their_arguments() -> None:
    """Name, description and schema are the action's; the id of the episode is optional."""

    async def test(agent: Agent) -> None:
        tools = await agent.tools()
        assert set(tools) == {
            "order",
            "begin_episode",
            "present_observation",
            "close_episode",
            "look_up",
        }
        schema = tools["order"]["inputSchema"]
        assert set(schema["properties"]) == {"quantity", "episode"}
        assert (schema["required"], schema["additionalProperties"]) == (["quantity"], False)
        assert tools["order"]["description"] == Order.__doc__.splitlines()[0]

    with_agent(test)


def test_the_rules_come_with_the_instructions() -> None:
    """They say how to play; a tool that does not exist is an error."""

    async def test(agent: Agent) -> None:
        assert "begin_episode begins an episode" in agent.instructions
        assert agent.instructions.endswith(rules_of(beer().model, "retailer"))
        with pytest.raises(Refused, match="did you mean 'order'"):
            await agent.call("ordr")

    with_agent(test)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_action_of_every_seat_is_a_tool(case: Any) -> None:
    """Of seats with the same actions it is one tool, which takes the seat."""
    setup = case.setup()
    tools = ToolSet(Episodes(setup))
    found = {(seat, tool.name) for tool, seats in tools.actions.values() for seat in seats}
    tags = {(seat, tag) for seat in setup.seats for tag in setup.codec(seat).classes}
    assert found == tags
    assert len(tools.listed) >= len(tools.actions) + 3


# -- episodes --------------------------------------------------------------------------------------


def test_a_session_plays_one_episode_after_the_other() -> None:
    """A second one begins only when the first has ended or was closed; seeds differ."""

    async def test(agent: Agent) -> None:
        with pytest.raises(Refused, match="call begin_episode"):
            await agent.call("order", quantity=4)
        first = await agent.call("begin_episode", seed=1)
        with pytest.raises(Refused, match="is open in this session"):
            await agent.call("begin_episode", seed=2)
        ended = await agent.play(four, first)
        assert await agent.call("present_observation") == ended
        with pytest.raises(Refused, match="the episode is over"):
            await agent.call("order", quantity=4)
        again = await agent.play(four, await agent.call("begin_episode", seed=1))
        other = await agent.play(four, await agent.call("begin_episode", seed=2))
        assert again["ended"] == ended["ended"]
        assert again["episode"] != ended["episode"]
        assert other["ended"]["ledger_digest"] != ended["ended"]["ledger_digest"]
        await agent.call("begin_episode")
        await agent.call("close_episode")
        assert not (await agent.call("begin_episode"))["done"]

    with_agent(test)


def test_the_rewards_add_up_to_the_change_of_the_score() -> None:
    """What the first observation shows has been earned before."""

    async def test(agent: Agent) -> None:
        seen = await agent.call("begin_episode", seed=5)
        assert seen["reward"] == 0
        total = 0.0
        while not seen["done"]:
            seen = await agent.call("order", quantity=4)
            total += seen["reward"]
        with beer().begin(5) as session:
            before = session.score
        assert total == pytest.approx(seen["ended"]["score"] - before)

    with_agent(test)


BAD_CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("order", {}, "quantity"),
    ("order", {"quantity": "four"}, "quantity"),
    ("order", {"quantity": None}, "quantity"),
    ("order", {"quantity": float("nan")}, ""),
    ("order", {"quantity": float("inf")}, ""),
    ("order", {"quantity": 10**400}, ""),
    ("order", {"quantity": [[[[4]]]]}, "quantity"),
    ("order", {"quantity": 4, "price": 3}, "price"),
    ("order", {"quantity": 4, "episode": 7}, "it is a string"),
    ("order", {"quantity": 4, "episode": "0" * 32}, "no open episode"),
    ("order", {"quantity": 4, "episode": "../../etc/passwd"}, "no open episode"),
    ("begin_episode", {"seed": 1}, "is open"),
    ("begin_episode", {"resume": 3}, "it is a string"),
    ("begin_episode", {"resume": "../x", "seed": 3}, "own seed"),
    ("begin_episode", {"sed": 3}, "did you mean 'seed'"),
    ("present_observation", {"all": True}, "all"),
    ("look_up", {"table": "state"}, "there is no table"),
    ("look_up", {"table": {"a": 1}}, "it is a string"),
    ("look_up", {"table": "weeks", "first_row": -1}, "first_row"),
]


def test_a_bad_call_gets_a_sentence_and_changes_nothing() -> None:
    """The episode ends exactly as it would have without them."""
    direct = played(BEER, 5)

    async def run() -> None:
        tools = ToolSet(Episodes(BEER.setup()))
        await content(tools, "a", "begin_episode", seed=5)
        seen = await content(tools, "a", "present_observation")
        for name, arguments, says in BAD_CALLS:
            refused = await content(tools, "a", name, **arguments)
            assert isinstance(refused, str), (name, arguments)
            assert says in refused, (name, arguments)
            assert len(refused) < 1000
            assert await content(tools, "a", "present_observation") == seen
        for action in direct.answers["retailer"]:
            seen = await content(tools, "a", "order", quantity=action["quantity"])
        assert seen["ended"]["ledger_digest"] == direct.digest

    asyncio.run(run())


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True, [1]])
def test_a_seed_that_is_none_is_refused(seed: Any) -> None:
    """Nothing is begun, and no place is taken."""
    episodes = Episodes(beer(), most=1)

    async def test(agent: Agent) -> None:
        with pytest.raises(Refused, match="it is a whole number of at least 0"):
            await agent.call("begin_episode", seed=seed)
        assert episodes.open == 0

    with_agent(test, episodes)


def test_a_seat_sees_its_own_tables_a_page_at_a_time() -> None:
    """Without a name the tables are listed with their lengths."""

    async def test(agent: Agent) -> None:
        await agent.call("begin_episode", seed=0)
        await agent.call("order", quantity=4)
        names = (await agent.call("look_up"))["tables"]
        with beer().begin(0) as session:
            session.step({"do": "order", "quantity": 4})
            expected = session.tables("retailer")
        assert names == {name: len(rows) for name, rows in expected.items()}
        for name, rows in expected.items():
            shown = await agent.call("look_up", table=name)
            assert shown["all_rows"] == len(rows)
            assert shown["rows"] == json.loads(json.dumps([dict(row) for row in rows]))
            assert not (await agent.call("look_up", table=name, first_row=10**6))["rows"]

    with_agent(test)


# -- several seats, several clients ----------------------------------------------------------------


def test_one_client_plays_every_seat_of_the_setup() -> None:
    """A call names the seat; the clock moves when every open seat has answered."""
    setup = CASES[1].setup()

    async def run() -> None:
        tools = ToolSet(Episodes(setup))
        seen = await content(tools, "a", "begin_episode")
        seats = list(seen["observations"])
        assert seats == list(setup.seats)
        assert "give the seat" in await content(tools, "a", "order", quantity=4)
        wrong = await content(tools, "a", "order", quantity=4, seat="brewer")
        assert "seat 'brewer' was given" in wrong
        for number, seat in enumerate(seats[:-1], 1):
            seen = await content(tools, "a", "order", quantity=4, seat=seat)
            assert list(seen["observations"]) == seats[number:]
        twice = await content(tools, "a", "order", quantity=4, seat=seats[0])
        assert "has no open decision" in twice
        seen = await content(tools, "a", "order", quantity=4, seat=seats[-1])
        assert list(seen["observations"]) == seats

    asyncio.run(run())


def test_a_server_may_choose_the_seeds(tmp_path: Path) -> None:
    """Its records hold them and no reply does; a client that gives one is refused."""

    async def run() -> None:
        episodes = Episodes(beer(), records=tmp_path, seeds=range(7, 9))
        tools = ToolSet(episodes)
        assert list(tools.listed["begin_episode"].fields) == ["resume"]
        assert "argument 'seed' was given" in await content(tools, "a", "begin_episode", seed=7)
        played = []
        for _ in range(3):
            begun = await content(tools, "a", "begin_episode")
            played.append(Episode.read(tmp_path / f"{begun['episode']}.jsonl", whole=False))
            await content(tools, "a", "close_episode")
        assert [one.header.seed for one in played] == [7, 8, 7]

    asyncio.run(run())


def test_clients_play_episodes_of_their_own() -> None:
    """No call of one reaches the episode of the other, and the most are refused."""

    async def run() -> None:
        episodes = Episodes(beer(), most=2)
        tools = ToolSet(episodes)
        first = await content(tools, "a", "begin_episode", seed=1)
        second = await content(tools, "b", "begin_episode", seed=2)
        assert "2 episodes are open" in await content(tools, "c", "begin_episode")
        await content(tools, "a", "order", quantity=50)
        assert await content(tools, "b", "present_observation") == second
        await content(tools, "a", "close_episode")
        assert not (await content(tools, "c", "begin_episode"))["done"]
        assert "no open episode" in await content(
            tools, "b", "order", quantity=1, episode=first["episode"]
        )

    asyncio.run(run())


def test_a_connection_without_a_session_names_its_episode() -> None:
    """The protocol of 2026-07-28 has none; it may play several at once."""

    async def run() -> None:
        tools = ToolSet(Episodes(beer()))
        first = await content(tools, None, "begin_episode", seed=1)
        second = await content(tools, None, "begin_episode", seed=2)
        assert "give the id" in await content(tools, None, "order", quantity=4)
        ends = [(await to_the_end(tools, seen))["ended"] for seen in (first, second)]
        assert ends[0]["ledger_digest"] != ends[1]["ledger_digest"]

    asyncio.run(run())


def test_a_policy_that_computes_for_long_stalls_no_other_client() -> None:
    """One client's episode ends while the policy in another's is still deciding."""
    Blocks.free.clear()

    async def run() -> None:
        slow, fast = (ToolSet(Episodes(beer(**one))) for one in ({"wholesaler": Blocks}, {}))
        async with anyio.create_task_group() as group:
            started: list[Any] = []

            async def begin() -> None:
                seen = await content(slow, "a", "begin_episode")
                started.append(await content(slow, "a", "order", quantity=4))
                assert seen["done"] is False

            group.start_soon(begin)
            ended = await to_the_end(fast, await content(fast, "b", "begin_episode"))
            assert ended["done"]
            assert started == []
            Blocks.free.set()
        assert started[0]["done"] is False

    asyncio.run(run())


def test_the_policy_of_another_role_that_failed_is_asked_again() -> None:
    """The client's answer is kept."""
    FailsOnce.failed = False

    async def run() -> None:
        tools = ToolSet(Episodes(beer(wholesaler=FailsOnce)))
        await content(tools, "a", "begin_episode")
        failed = await content(tools, "a", "order", quantity=4)
        assert "out of order" in failed
        assert "present_observation asks that policy again" in failed
        assert (await content(tools, "a", "present_observation"))["observation"]["week"] == 2

    asyncio.run(run())


# -- records and resumption ------------------------------------------------------------------------


def test_an_episode_is_resumed_by_its_id_after_a_restart(tmp_path: Path) -> None:
    """It returns the open observation, and ends as it would have without the restart."""

    async def run() -> None:
        old, new = (ToolSet(Episodes(beer(), records=tmp_path)) for _ in range(2))
        whole = await to_the_end(old, await content(old, "w", "begin_episode", seed=5))
        begun = await content(old, "a", "begin_episode", seed=5)
        for _ in range(7):
            seen = await content(old, "a", "order", quantity=4)
        name = begun["episode"]
        held = await content(new, "b", "begin_episode", resume=name)
        assert held.startswith(f"episode {name} is being played elsewhere")
        await content(old, "a", "close_episode")
        resumed = await content(new, "b", "begin_episode", resume=name)
        assert resumed["observation"] == seen["observation"]
        assert resumed["reward"] == 0
        ended = await to_the_end(new, resumed)
        assert ended["ended"] == whole["ended"]
        again = await content(old, "a", "begin_episode", resume=name)
        assert "has ended, with score" in again

    asyncio.run(run())
    assert not list(tmp_path.glob("*.lock"))


def test_an_open_episode_goes_to_the_client_that_resumes_it() -> None:
    """The session that was lost has it no longer."""

    async def run() -> None:
        tools = ToolSet(Episodes(beer(), most=1))
        begun = await content(tools, "a", "begin_episode", seed=5)
        resumed = await content(tools, "b", "begin_episode", resume=begun["episode"])
        assert resumed == begun
        assert "no episode is open" in await content(tools, "a", "present_observation")
        ended = await to_the_end(tools, resumed, "b")
        lost_reply = await content(tools, "a", "begin_episode", resume=begun["episode"])
        assert lost_reply["ended"] == ended["ended"]

    asyncio.run(run())


def test_what_cannot_be_resumed_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """No file outside the folder is looked at, and no path is in an answer."""

    async def run() -> None:
        episodes = Episodes(beer(), records=tmp_path / "records")
        tools = ToolSet(episodes)
        begun = await content(tools, "a", "begin_episode")
        await content(tools, "a", "order", quantity=4)
        await episodes.close_unused()
        name = begun["episode"]
        file = tmp_path / "records" / f"{name}.jsonl"
        (tmp_path / f"{name}.jsonl").write_bytes(file.read_bytes())
        for given in (f"../{name}", f"{name}.jsonl", str(file), "0" * 32, "", name.upper() + "0"):
            said = await content(tools, "a", "begin_episode", resume=given)
            assert said == "no episode of this id can be resumed here"
        other = ToolSet(Episodes(beer(factory="sterman"), records=tmp_path / "records"))
        said = await content(other, "a", "begin_episode", resume=name)
        assert said.endswith("is of another world, other seats or other policies")
        none = ToolSet(Episodes(beer()))
        assert "keeps no records" in await content(none, "a", "begin_episode", resume=name)
        file.write_bytes(file.read_bytes().replace(b'"quantity":4', b'"quantity":5'))
        lines = file.read_bytes().splitlines()
        file.write_bytes(b"\n".join([lines[0], b"{}", *lines[1:]]))
        said = await content(tools, "a", "begin_episode", resume=name)
        assert isinstance(said, str)
        assert str(tmp_path) not in said
        assert episodes.open == 0
        with RecordLock(file):  # it was released
            pass

    asyncio.run(run())


def test_an_idle_episode_is_closed_and_can_be_resumed(tmp_path: Path) -> None:
    """A client that has gone keeps no place; nor does one whose session has ended."""

    async def run() -> None:
        episodes = Episodes(beer(), records=tmp_path)
        tools = ToolSet(episodes)
        begun = await content(tools, "a", "begin_episode")
        await episodes.close_unused(0)
        assert episodes.open == 0
        assert "begin_episode" in await content(tools, "a", "order", quantity=4)
        resumed = await content(tools, "a", "begin_episode", resume=begun["episode"])
        assert resumed == begun
        await episodes.leave("a")
        assert episodes.open == 0

    asyncio.run(run())


def test_a_hundred_episodes_leave_nothing_behind(tmp_path: Path) -> None:
    """No session, file handle, lock or further thread."""
    episodes = Episodes(
        Setup.of("beer_game", "poisson", seats="retailer", params={"horizon": 4}),
        records=tmp_path,
        most=3,
    )

    async def test(agent: Agent) -> None:
        counts = []
        for seed in range(100):
            await agent.play(four, await agent.call("begin_episode", seed=seed))
            if seed in (9, 99):
                gc.collect()
                counts.append((open_descriptors(), threading.active_count()))
        assert counts[0] == counts[1]
        assert episodes.open == 0
        assert len(episodes._known) == len(episodes._of_client) == 1

    with_agent(test, episodes)
    assert len(list(tmp_path.iterdir())) == 100
