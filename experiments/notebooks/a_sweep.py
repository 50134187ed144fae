"""A sweep: a policy of this notebook, with several arguments, in two worker processes."""

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
    rows = desim.sweep(
        "beer_game/poisson", Cushion, range(20), set={"policy.target": [12, 16, 20]}, jobs=2
    )
    rows
    return (rows,)


@app.cell
def _(rows):
    rows.table(by="target", show=["score", "bullwhip_controlled"])
    return


if __name__ == "__main__":
    app.run()
