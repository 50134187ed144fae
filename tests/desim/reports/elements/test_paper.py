"""The printed part of a report: as many blocks as fit on a number of pages."""

from desim.reports.elements.charts import dots
from desim.reports.elements.page import Figure, Section, cleaned
from desim.reports.elements.paper import printed_within

#: About five and a half inches high in print.
FIGURE = Figure("mean", dots(["a"] * 19, [None] * 19, "x"), "means", cleaned(["a"], [["1"]]))


def test_a_report_that_fits_is_printed_whole() -> None:
    """All blocks of all sections."""
    sections = [Section.of("One", [FIGURE]), Section.of("Two", ["a text"])]
    assert [one.printed for one in printed_within(sections, 2, frozenset())] == [1, 1]


def test_long_sections_are_printed_as_far_as_there_is_room() -> None:
    """The others come first, wherever they are; a picture is not broken over two pages."""
    sections = [Section.of("Series of a", [FIGURE] * 8), Section.of("Last", [FIGURE])]
    found = printed_within(sections, 3, frozenset({"Series"}))
    assert [one.title for one in found] == ["Series of a", "Last"]
    assert [one.printed for one in found] == [2, 1]


def test_tables_of_figures_take_room_unless_the_section_is_brief() -> None:
    """A long table below a figure."""
    wide = Figure("mean", FIGURE.image, "means", cleaned(["a"], [["1"]] * 200))
    whole, brief = Section.of("A", [wide] * 2), Section.of("A", [wide] * 2, is_brief=True)
    assert [printed_within([one], 3, frozenset())[0].printed for one in (whole, brief)] == [0, 2]
