"""A server of OpenEnv and the package's own client: sessions, tokens, limits, and validation."""

import importlib
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openenv")

import httpx
from openenv.core.generic_client import GenericEnvClient
from openenv.validation import load_policy
from support.paths import ROOT
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

import desim
from desim.adapters.openenv.server import serve, serving
from desim.adapters.seat.setup import Setup
from desim.errors import UsageError, WriteFailed
from experiments.adapters.openenv_validate import WORLDS, validated

#: What the package's client says where the server closes the connection.
CAPACITY = "Server at capacity: 2/2 sessions active"


@contextmanager
def client(url: str, **options: Any) -> Iterator[Any]:
    """Return the package's client, connected."""
    with GenericEnvClient(base_url=url, **options).sync() as connected:
        yield connected


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Return the address of a server with room for two clients."""
    with serving(Setup.of("beer_game/poisson"), max_sessions=2) as address:
        yield address


def order(connected: Any, quantity: int = 4) -> Any:
    """Order, and return the result."""
    return connected.step({"do": "order", "quantity": quantity})


def test_two_clients_have_two_episodes(url: str) -> None:
    """What one does, the other does not see; the same actions give both the same."""
    with client(url) as one, client(url) as two:
        one.reset(seed=1, episode_id="one")
        two.reset(seed=1, episode_id="two")
        order(one)
        with pytest.raises(RuntimeError, match=CAPACITY), client(url) as third:
            third.reset()
        assert order(two, 4).observation["observation"]["week"] == 2
        assert order(one, 9).observation == order(two, 9).observation
        assert (one.state()["episode_id"], two.state()["episode_id"]) == ("one", "two")
        assert one.state()["step_count"] == 2


def test_a_dropped_client_frees_its_session(url: str) -> None:
    """Its socket is cut in the middle of an episode."""
    for _ in range(3):  # more than there is room for
        with connect(f"{url.replace('http', 'ws')}/ws") as raw:
            raw.send('{"type": "reset", "data": {"seed": 1}}')
            assert '"observation"' in str(raw.recv())
            raw.socket.shutdown(socket.SHUT_RDWR)
        assert any(_answers(url) for _ in range(100))


def _answers(url: str) -> bool:
    """Return whether there is room; if not, wait a little."""
    try:
        with client(url) as one:
            return not one.reset(seed=1).done
    except RuntimeError:
        time.sleep(0.02)
        return False


def test_what_the_client_asks_for_wrongly_is_said(url: str) -> None:
    """The connection stays, and so does the episode."""
    with client(url) as one:
        one.reset(seed=1)
        with pytest.raises(RuntimeError, match="did you mean 'seed'"):
            one.reset(sed=1)
        assert "expected Order" in order(one, "many").observation["refused"]
        assert order(one).observation["observation"]["week"] == 2


@pytest.mark.parametrize(
    "text", ["[1]", "{", '{"type": "step", "data": 3}', "[" * 100_000, "x" * 2**21]
)
def test_a_message_that_is_none_harms_no_other_client(url: str, text: str) -> None:
    """It is answered, or its sender let go."""
    with client(url) as other:
        other.reset(seed=1)
        with connect(url.replace("http", "ws") + "/ws", max_size=None) as raw:
            raw.send(text)
            with suppress(ConnectionClosed):
                assert '"error"' in str(raw.recv(timeout=10))
        assert order(other).observation["observation"]["week"] == 2


def test_a_request_that_is_too_large_is_refused(url: str) -> None:
    """Whether or not it says how large it is."""
    said = httpx.post(f"{url}/reset", content=b"x" * (2**20 + 1))
    assert (said.status_code, "at most 1,048,576 bytes" in said.text) == (413, True)
    chunks = (b"x" * 2**18 for _ in range(5))
    assert httpx.post(f"{url}/reset", content=chunks).status_code == 413


def test_tasks_metadata_and_schemas_are_found_over_http(url: str) -> None:
    """What a client needs before it plays; a wrong task is a client's error."""
    task = {"split": "test", "index": 3}
    assert httpx.get(f"{url}/beer_game/splits").json()[0] == {"name": "train", "type": "train"}
    found = httpx.post(f"{url}/beer_game/task", json=task).json()["task"]
    assert found["id"] == "beer_game/poisson/test:3"
    wrong = httpx.post(f"{url}/beer_game/task", json=task | {"index": 10**6})
    assert wrong.status_code == 400
    assert httpx.post(f"{url}/reset", json={"sed": 1}).status_code == 400
    about = httpx.get(f"{url}/metadata").json()
    assert (about["name"], about["version"]) == ("beer_game", desim.__version__)
    action = httpx.get(f"{url}/schema").json()["action"]["anyOf"][0]
    assert action["properties"]["do"] == {"const": "order"}


def test_a_token_is_asked_for(tmp_path: Path) -> None:
    """Without it neither requests nor sockets are answered; with it records are kept."""
    setup = Setup.of("edt/published")
    with serving(setup, token="sesame", records=tmp_path) as address:  # noqa: S106 (of this test)
        assert httpx.get(f"{address}/health").status_code == 401
        wrong = {"Authorization": "Bearer sesam"}
        with pytest.raises(ConnectionError, match="403"), client(address, headers=wrong) as one:
            one.reset()
        right = {"Authorization": "Bearer sesame"}
        with client(address, headers=right) as one:
            seen = one.reset(seed=1)
            none = [None] * len(seen.observation["observation"]["projects"])
            seen = one.step(
                {"do": "decide", "consultants": 0, "revenue_risk": 0.0, "projects": none}
            )
            assert seen.done
    (file,) = tmp_path.iterdir()
    assert desim.replay(file).score == seen.observation["ended"]["score"]


def test_a_page_of_another_origin_cannot_play() -> None:
    """Neither by requests nor by sockets, whose browser names the page's origin and host."""
    with serving(Setup.of("beer_game/poisson")) as address:
        ours = str(httpx.URL(address).copy_with(path="/"))
        evil = {"Origin": "http://evil.example"}
        assert httpx.post(f"{address}/reset", json={}, headers=evil).status_code == 403
        assert httpx.get(f"{address}/health", headers={"Host": "evil.example"}).status_code == 421
        own = {"Origin": ours.rstrip("/")}
        assert httpx.post(f"{address}/reset", json={}, headers=own).status_code == 200
        with pytest.raises(ConnectionError, match="403"), client(address, headers=evil) as one:
            one.reset()


def test_a_client_has_its_token_in_the_address_or_in_a_header() -> None:
    """Without one a client cannot play, also where no token was chosen."""
    with serving(Setup.of("beer_game/poisson")) as address:
        bare, _, token = address.partition("/t/")
        with client(address) as one:
            assert not one.reset(seed=1).done
        with client(bare, headers={"Authorization": f"Bearer {token}"}) as one:
            assert not one.reset(seed=1).done
        for wrong in (bare, address[:-1], f"{address}x", f"{bare}/t/"):
            assert httpx.post(f"{wrong}/reset", json={}).status_code == 401
            with pytest.raises(ConnectionError, match="403"), client(wrong) as one:
                one.reset(seed=1)


GRADED = {
    "static.manifest",
    "runtime.startup",
    "runtime.reward_well_formed",
    "runtime.observation_schema",
    "runtime.state_contract",
}


@pytest.mark.parametrize(
    "world",
    [
        each if each == "beer_game" else pytest.param(each, marks=pytest.mark.slow)
        for each in WORLDS
    ],
)
@pytest.mark.filterwarnings(  # websockets 17 warns of how openenv 0.10 calls it
    "ignore:connect.. must be used as a context manager:DeprecationWarning"
)
def test_openenv_validate_accepts_a_world(world: str) -> None:
    """Every grader that the package ships passes, or says that it needs a container."""
    checks, live = validated(Setup.of(world, WORLDS[world]))
    assert {name for name, (status, _) in checks.items() if status == "pass"} == GRADED
    assert {status for status, _ in checks.values()} == {"pass", "skip"}
    assert len(live) == 6
    assert all(live.values())


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the script of the report, which imports its neighbours by plain names."""
    monkeypatch.syspath_prepend(ROOT / "experiments" / "adapters")
    return importlib.import_module("openenv_checks")


def test_the_report_has_every_check_once(checks: Any) -> None:
    """Each is graded by the package, measured, or stated."""
    graded, measured, stated = GRADED, set(checks.MEASURES), set(checks.STATED)
    assert len(graded) + len(measured) + len(stated) == 46
    assert {each.check_id for each in load_policy("v2").entries} == graded | measured | stated
    assert set(checks.COLUMNS.values()) <= measured


def test_a_row_of_the_report_names_what_does_not_pass(
    checks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its figure; worlds that pass are counted."""

    def measure(world: str) -> tuple[str, str]:
        """Something holds."""
        return ("FAIL", "9 %") if world == "bad" else ("pass", "1 %")

    monkeypatch.setattr(checks, "MEASURES", {"semantic.some": measure})
    worlds = {"good": "good", "other": "other", "bad": "bad"}
    row = checks.row("semantic.some", worlds)
    assert row == "| `semantic.some` | 2 pass, 1 FAIL | Something holds. bad FAIL: 9 % |"
    del worlds["bad"]
    assert checks.row("semantic.some", worlds) == "| `semantic.some` | pass | Something holds. |"
    assert checks.row("static.dependency_pinning", worlds).count("FAIL") == 1


def test_a_server_that_cannot_begin_says_why(url: str, tmp_path: Path) -> None:
    """Its port is taken, or its folder is a file."""
    setup = Setup.of("beer_game")
    with pytest.raises(UsageError, match=r"cannot listen on 127\.0\.0\.1 port"):
        serve(setup, port=httpx.URL(url).port or 0)
    (tmp_path / "records").write_text("")
    with pytest.raises(WriteFailed, match="cannot make"):
        serve(setup, records=tmp_path / "records")
