"""Episodes that were checked once and must not change by accident, compared as a whole.

To renew one on purpose: `desim run MODEL ... --record tests/golden/NAME.jsonl`, and say why in the
commit.
"""

from pathlib import Path

import pytest

from desim import Episode, play

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.jsonl"))


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_the_golden_episode_is_played_again_line_by_line(file: Path, tmp_path: Path) -> None:
    """Model, seed and policies give the same decisions and result; the header may differ."""
    golden = Episode.read(file)
    play(
        golden.header.build(),
        golden.header.policies,
        golden.header.seed,
        record=tmp_path / "now.jsonl",
    )
    then, now = (path.read_text().splitlines() for path in (file, tmp_path / "now.jsonl"))
    assert now[1:-1] == then[1:-1]
    assert Episode.read(tmp_path / "now.jsonl").result == golden.result


def test_there_is_a_golden_episode_of_every_model() -> None:
    """A new model adds one."""
    from desim import catalog

    assert {Episode.read(file).header.model for file in GOLDEN} >= set(catalog.models())
