"""Options of one world's conversation: read, checked and listed beside the policy's own."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.forked import desim_process, ended
from support.paths import ROOT

from desim import play
from desim.errors import UsageError
from desim.schema.arguments import parameters
from desim.schema.wire_types import attribute_texts
from policies.llm.options import LLMOptions

BASE = "llm,model=x,base_url=http://h/v1"


@pytest.mark.parametrize(
    ("world", "argument", "why"),
    [
        ("yc_bench", "console=maybe", "console=maybe was given; console is true or false"),
        ("yc_bench", "consol=true", "did you mean 'console'"),
        ("yc_bench", "max_call=1", "did you mean 'max_calls'"),
        ("edt", "feedbak=false", "did you mean 'feedback'"),
        ("edt", "console=true", "has no argument 'console'"),
        ("beer_game", "history=-1", "history=-1 was given; it is at least 0"),
        ("beer_game", "feedback=true", "has no argument 'feedback'"),
    ],
)
def test_an_option_of_a_world_is_checked_as_every_argument(
    world: str, argument: str, why: str
) -> None:
    """Near misses come from the policy's arguments and this world's, not from other worlds'."""
    with pytest.raises(UsageError, match=why):
        play(world, f"{BASE},{argument}")


def test_every_argument_has_a_text_and_is_on_the_page() -> None:
    """The texts of the class are the help of `desim list --policy llm`."""
    page = (ROOT / "policies" / "llm" / "README.md").read_text(encoding="utf-8")
    texts = attribute_texts(LLMOptions)
    for argument in parameters(LLMOptions):
        assert texts[argument]
        assert f"`{argument}`" in page


KIOSK = '''
"""A world of the user's own."""
from attrs import frozen
from desim import Model, Role

@frozen
class Seen:
    """Nothing."""

@frozen(kw_only=True)
class Sell:
    """Sell."""

@frozen(kw_only=True)
class Kiosk(Model):
    """A kiosk."""

    @property
    def roles(self):
        return {"owner": Role(Seen, Sell, default_action=lambda _: Sell())}

    def begin(self, world):
        def day():
            yield world.ask("owner", Seen)
        world.process(day())

    def score(self, _):
        return 0.0

    def metrics(self, _):
        return {}
'''

WORLD_FILE = '''
"""What a model reads at the kiosk."""
from attrs import field, frozen
from policies.llm.conversation import ConversationKind
from policies.llm.options import LLMOptions, choice
from policies.llm.conversation import Conversation

@frozen(kw_only=True)
class KioskOptions(LLMOptions):
    """How the owner is addressed."""

    tone: str = field(default="kind", validator=choice("kind", "stern"))

CONVERSATION = ConversationKind(KioskOptions, Conversation)
'''

SCRIPT = """
import kiosk
from desim import catalog
from desim.episodes.lineup import resolve
from desim.errors import UsageError
from desim.schema.arguments import parameters
from desim.schema.wire_types import attribute_texts
from policies.llm import Llm

options, _ = Llm.arguments(kiosk.Kiosk, {})
assert options.__name__ == "KioskOptions", options
resolve(kiosk.Kiosk(), "llm,model=x,base_url=http://h/v1,tone=stern", 0)
try:
    resolve(kiosk.Kiosk(), "llm,model=x,base_url=http://h/v1,tone=ster", 0)
except UsageError as fault:
    assert "did you mean 'stern'" in str(fault), fault
else:
    raise AssertionError
assert catalog.policy("llm", kiosk.Kiosk) is Llm
"""


def test_a_users_world_may_bring_a_file_of_its_own(tmp_path: Path) -> None:
    """A folder `policies/llm/worlds` beside the user's files is found by the model's name."""
    worlds = tmp_path / "policies" / "llm" / "worlds"
    worlds.mkdir(parents=True)
    (worlds / "kiosk.py").write_text(WORLD_FILE)
    (tmp_path / "kiosk.py").write_text(KIOSK)
    root = str(ROOT)
    script = f"import sys\nsys.path[:0] = [{str(tmp_path)!r}, {root!r}]\n{SCRIPT}"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path)


@pytest.mark.parametrize(
    ("model", "arguments"),
    [
        ("edt", "feedback=True"),
        ("yc_bench", "console=False"),
    ],
)
def test_the_list_of_a_model_shows_its_options(model: str, arguments: str) -> None:
    """They stand below the policies of that model."""
    shown = ended(desim_process("list", model, cwd=ROOT))
    assert f"llm takes here also: {arguments}" in shown.out
