"""False entries of all kinds are refused, honest ones accepted; the script makes 1,000."""

from pathlib import Path

from experiments.attack_entries import attacked
from experiments.forging.kinds import OF_ALL, OF_CODE, OF_MODELS, OF_RULES


def test_no_false_entry_is_accepted(tmp_path: Path) -> None:
    """One or two of each kind; the honest entries: rules, one with its code, and a model."""
    tallies = attacked(tmp_path, 160, 5)
    assert [hole for tally in tallies.values() for hole in tally.holes] == []
    assert tallies["honest"].ended == {"accepted": 6}
    names = {kind.__name__ for kind in (*OF_ALL, *OF_RULES, *OF_CODE, *OF_MODELS)}
    assert tallies.keys() == names | {"honest"}
