"""`desim serve`: what it refuses before it serves anything."""

import socket
import sys
from pathlib import Path

import pytest
from support.command_line import Desim, refused

BEER = ("serve", "beer_game", "--preset", "poisson", "--seat", "retailer")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "give --mcp"),
        (["--mcp", "--stdio", "--json"], "--json goes with --mcp over HTTP"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(
    desim: Desim, options: list[str], says: str
) -> None:
    """In a sentence that says which do."""
    refused(desim(*BEER, *options), says)


def test_a_package_that_is_missing_is_named(desim: Desim, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it; a model that does not exist comes first."""
    for module in [one for one in sys.modules if one.startswith("desim.adapters.mcp")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "mcp", None)
    refused(desim(*BEER, "--mcp"), "this needs mcp: pip install 'desim[mcp]'")
    refused(desim("serve", "nosuch", "--mcp"), "nosuch")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--seat", "brewer"], "brewer"),
        (["--seat", "factory"], "one seat is played by tools; 2 were given"),
        (["--policy", "retailer=sterman"], "'retailer' is a seat of the caller"),
        (["--reward", "profits"], "reward 'profits' was given"),
        (["--seeds", "0-5"], "seeds '0-5' were given"),
        (["--token", "a b"], "a token consists of visible ASCII characters"),
        (["--records", "mine.py"], "cannot write records into mine.py"),
        (["--host", "192.0.2.1"], "cannot listen on 192.0.2.1"),
        (["--host", "no host"], "cannot listen on no host"),
    ],
)
def test_what_cannot_be_served_is_refused(desim: Desim, options: list[str], says: str) -> None:
    """Before anybody is told an address."""
    pytest.importorskip("mcp")
    refused(desim(*BEER, "--mcp", "--port", "0", *options), says)


def test_a_port_in_use_is_refused(desim: Desim, folder: Path) -> None:
    """In one sentence."""
    pytest.importorskip("mcp")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused(
            desim(*BEER, "--mcp", "--port", str(port)), f"cannot listen on 127.0.0.1 port {port}"
        )
