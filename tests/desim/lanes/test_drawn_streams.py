"""Draws by seed are drawn once, and bounded in bytes."""

from collections.abc import Sequence

from attrs import define, field

from desim.lanes.drawn_streams import DrawnStreams


@define
class Source:
    """Draws that count how often each was made."""

    made: list[int] = field(factory=list)

    def draw(self, seeds: Sequence[int]) -> list[bytes]:
        """Return 850 bytes a seed; with the bookkeeping they count as 1,000."""
        self.made += seeds
        return [bytes([seed % 256]) * 850 for seed in seeds]


def test_a_seed_is_drawn_once() -> None:
    """Also where it occurs twice, among others that are new."""
    streams, source = DrawnStreams(), Source()
    first = streams.of("a", [3, 4, 3], source.draw)
    assert [each[0] for each in first] == [3, 4, 3]
    assert [each[0] for each in streams.of("a", [5, 4], source.draw)] == [5, 4]
    assert source.made == [3, 4, 5]


def test_other_parameters_have_draws_of_their_own() -> None:
    """A seed is drawn again for another key."""
    streams, source = DrawnStreams(), Source()
    streams.of("a", [1], source.draw)
    streams.of(("b", 2), [1], source.draw)
    assert source.made == [1, 1]


def test_what_is_used_again_stays() -> None:
    """Of draws that do not fit the bytes, those used least recently make way."""
    streams, source = DrawnStreams(20_000), Source()
    for seed in range(100):
        streams.of("a", [0, seed], source.draw)
    assert source.made == [*range(100)]
    streams.of("a", [1], source.draw)
    assert source.made[100:] == [1]


def test_kept_bytes_are_bounded() -> None:
    """However many seeds are drawn at once, and each is returned."""
    streams, source = DrawnStreams(20_000), Source()
    drawn = streams.of("a", range(500), source.draw)
    assert [each[0] for each in drawn] == [seed % 256 for seed in range(500)]
    assert streams.held <= 20_000
