"""Regret: which decisions of an episode would have been better made otherwise?"""

import marimo

app = marimo.App()


@app.cell
def _():
    import desim

    return (desim,)


@app.cell
def _(desim):
    episode = desim.play("beer_game/poisson", "greedy", seed=1)
    episode
    return (episode,)


@app.cell
def _(desim, episode):
    judged = desim.regret(
        episode, "base_stock", against="base_stock", futures=10, decisions=slice(0, 20, 5)
    )
    judged
    return (judged,)


if __name__ == "__main__":
    app.run()
