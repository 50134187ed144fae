"""A first policy: a class with `decide`, played against a baseline of the Beer Game."""

import marimo

app = marimo.App()


@app.cell
def _():
    from attrs import frozen

    import desim
    from models.beer_game.actions import Order

    return Order, desim, frozen


@app.cell
def _(Order, frozen):
    @frozen
    class Cushion:
        """Order what keeps stock and orders under way at a target."""

        target: int = 16

        def decide(self, stage):
            """Return the order of this week."""
            return Order(max(0, self.target - stage.position))

    return (Cushion,)


@app.cell
def _(Cushion, desim):
    episode = desim.play("beer_game/poisson", Cushion(), seed=1)
    episode
    return (episode,)


@app.cell
def _(Cushion, desim):
    rows = desim.sweep("beer_game/poisson", ["greedy", Cushion], range(20))
    rows.table(against="greedy")
    return (rows,)


if __name__ == "__main__":
    app.run()
