"""A world of one's own: a newsstand that buys papers for a day whose demand is unknown."""

import marimo

app = marimo.App()


@app.cell
def _():
    from functools import partial

    from attrs import define, field, frozen
    from attrs.validators import ge

    import desim
    from desim import Presets, Role

    return Presets, Role, define, desim, field, frozen, ge, partial


@app.cell
def _(define, field, frozen, ge):
    @frozen
    class Evening:
        """The vendor's observation at the end of a day."""

        day: int
        sold: int

    @frozen
    class Buy:
        """Buy papers for tomorrow, at 60 cents each; they sell for 100."""

        papers: int = field(validator=[ge(0)])

    @define
    class Stand:
        """The state: the money in the till, and the papers sold last."""

        cents: int = 0
        sold: int = 0

    return Buy, Evening, Stand


@app.cell
def _(Buy, Evening, Presets, Role, Stand, frozen, partial):
    def observe(world, stand):
        """Return what the vendor sees."""
        return Evening(world.now, stand.sold)

    def trade(world, stand, days):
        """Sell what was bought, day after day."""
        demand = world.stream("demand")
        while world.now < days:
            bought = yield world.ask("vendor", partial(observe, world, stand))
            stand.sold = min(bought.papers, int(demand.integers(10, 51)))
            stand.cents += 100 * stand.sold - 60 * bought.papers
            yield world.timeout(1)
        world.end("closed")

    @frozen
    class Newsstand(Presets):
        """Sells papers for some days."""

        days: int = 30
        presets = {"town": {}}  # noqa: RUF012 (data of a model)
        roles = {"vendor": Role(Evening, Buy)}  # noqa: RUF012 (data of a model)

        def begin(self, world):
            """Start the trade."""
            stand = Stand()
            world.process(trade(world, stand, self.days))
            return stand

        def score(self, stand):
            """Return the profit in cents."""
            return float(stand.cents)

        def metrics(self, stand):
            """Return further figures."""
            return {"sold_last": stand.sold}

    return (Newsstand,)


@app.cell
def _(Buy, frozen):
    @frozen
    class Fixed:
        """Buy the same number every day."""

        papers: int = 30

        def decide(self, _evening):
            """Return the order."""
            return Buy(self.papers)

    return (Fixed,)


@app.cell
def _(Fixed, Newsstand, desim):
    rows = desim.sweep(Newsstand, Fixed, range(20), set={"policy.papers": [20, 26, 32]}, jobs=2)
    rows
    return (rows,)


if __name__ == "__main__":
    app.run()
