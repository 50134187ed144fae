"""What does a small language model learn by GRPO in the Beer Game, compared with tuned rules?

    pip install 'desim[report]' trl==1.16.0 torch transformers
    python experiments/adapters/grpo_beer_game.py FOLDER

The model has its own tokenizer and about 135,000 parameters, and is downloaded from nowhere. It
first learns by imitation to call the tool of the retailer with random orders of 0 to 12 units, in
games of 12 weeks. `GRPOTrainer` of TRL then trains it on the classes of `desim.adapters.trl`.
FOLDER receives the means of each step for each of `TRAININGS` (`curve.csv`,
`curve.svg`), the scores on held-out seeds (`scores.csv`), and the game of the first training seed
on the first of these seeds (`episode.jsonl.gz`), which `desim replay` plays again. The files of one
run are in `experiments/adapters/grpo_beer_game`, the picture in `desim/docs/images`. Runs of one
seed differ between environments: the curve and the scores of another run are in its folder `again`.
"""

import copy
import csv
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from desim import play
from desim.adapters.seat.setup import Setup
from desim.adapters.trl import environment
from desim.statistics import interval
from models.beer_game import BeerGame

WORLD, SEAT, OTHERS, WEEKS = "beer_game/poisson", "retailer", "order_up_to", 12
STAGES = ("wholesaler", "distributor", "factory")

#: Seeds of the training runs; held-out seeds that neither training nor tuning has.
TRAININGS, HELD_OUT = (1,), range(2**33, 2**33 + 100)

#: Targets of base stock among which the best is chosen, and the seeds for that.
TARGETS, TUNING_SEEDS = range(4, 31), range(40)

#: Games of the imitation, orders from which each is drawn, and its steps and games of a step.
GAMES, ORDERS, IMITATION, SHOWN = 256, 13, 350, 8

#: Steps of GRPO, rollouts of a step, and those of one seed, which are compared with one another.
STEPS, BATCH, GROUP = 60, 16, 8

RATES = {"imitation": 3e-3, "GRPO": 1e-3}

#: The reward of a rollout that makes all of its decisions by calls: without it the model learns to
#: call no tool, as default orders have a higher score than random ones.
CALLED = 200.0

#: The lowest score of the picture; a sampled order of thousands of units ends far below it.
LOWEST = -340

#: Tokens of a rollout, the observations included.
LONGEST = 768

Retailer = environment(WORLD, seat=SEAT, others=OTHERS, rules=False, params={"horizon": WEEKS})
TOOLS = [Retailer().order]


def prompt(text: str = "") -> list[dict[str, Any]]:
    """Return the messages before the first call."""
    return [{"role": "user", "content": text}]


def call(quantity: int) -> dict[str, Any]:
    """Return the message that orders a quantity."""
    function = {"name": "order", "arguments": {"quantity": quantity}}
    return {"role": "assistant", "tool_calls": [{"type": "function", "function": function}]}


def random_game(seed: int) -> list[dict[str, Any]]:
    """Return the messages of a game with random orders."""
    chance, game = random.Random(seed), Retailer()  # noqa: S311 (no secret)
    messages = prompt(game.reset(seed=seed))
    for _ in range(WEEKS):
        quantity = chance.randrange(ORDERS)
        said = game.order(quantity=quantity)
        messages += [call(quantity), {"role": "tool", "name": "order", "content": said}]
    return messages


# -- the model -------------------------------------------------------------------------------------


def tokenizer_of(games: Sequence[Any]) -> Any:
    """Return a tokenizer of the games' texts, with the chat template of Qwen 2.5.

    A number is a token, and so is what is between two numbers on a line; a text that no game
    contains is unknown.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast
    from trl.chat_template_utils import add_response_schema, qwen2_5_chat_template

    core = Tokenizer(models.WordLevel(unk_token="<unk>"))  # noqa: S106 (no password)
    # Ends of lines are tokens of their own, so that a prompt is a prefix of the whole.
    parts = Regex(r"\n|The episode is over.*|[0-9]+")
    core.pre_tokenizer = pre_tokenizers.Split(parts, behavior="isolated")
    core.decoder = decoders.Fuse()
    marks = ["<unk>", "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>"]
    names = {"unk_token": marks[0], "pad_token": marks[1], "eos_token": marks[3]}
    own = {"chat_template": qwen2_5_chat_template, "padding_side": "left", **names}
    core.add_special_tokens(marks[:4])
    core.add_tokens(marks[4:])
    blank = PreTrainedTokenizerFast(tokenizer_object=core, **own)
    texts = [blank.apply_chat_template(each, tools=TOOLS, tokenize=False) for each in games]
    trainer = trainers.WordLevelTrainer(
        vocab_size=1_000, min_frequency=2, special_tokens=marks, show_progress=False
    )
    core.train_from_iterator([*texts, *map(str, [*range(400)] * 2)], trainer)
    known = PreTrainedTokenizerFast(tokenizer_object=core, **own)
    known.add_tokens(marks[4:])
    return add_response_schema(known)


def imitator(tokenizer: Any, games: Sequence[Any]) -> Any:
    """Return a model that calls the tool as the games do; only their calls are imitated."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM
    from trl.chat_template_utils import get_training_chat_template

    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=1 + max(tokenizer.get_vocab().values()),  # it has gaps
        hidden_size=64,
        intermediate_size=192,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=1_024,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    model = Qwen2ForCausalLM(config)
    steps = torch.optim.AdamW(model.parameters(), RATES["imitation"])
    template, chance = get_training_chat_template(tokenizer), random.Random(0)  # noqa: S311
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(steps, IMITATION)
    for _ in range(IMITATION):
        batch = tokenizer.apply_chat_template(
            chance.sample(games, SHOWN),
            tools=TOOLS,
            chat_template=template,
            return_assistant_tokens_mask=True,
            return_dict=True,
            return_tensors="pt",
            padding=True,
        )
        mask = torch.as_tensor(batch.pop("assistant_masks")) == 1
        loss = model(**batch, labels=batch["input_ids"].where(mask, -100)).loss
        steps.zero_grad()
        loss.backward()
        steps.step()
        slower.step()
    print(f"imitation: {model.num_parameters():,} parameters, loss {loss.item():.3f}", flush=True)
    return model


def share_called(environments: Sequence[Any], **_: Any) -> list[float]:
    """Return the share of its decisions that each rollout has made by a call."""
    return [each.called / WEEKS for each in environments]


def trained(model: Any, tokenizer: Any, training: int, folder: Path) -> list[Any]:
    """Train the model; return a line of the curve for each step."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    first, seeds = 100_000 * training, STEPS * BATCH // GROUP
    rows = [{"prompt": prompt(), "seed": first + number} for number in range(seeds)]
    settings = GRPOConfig(
        output_dir=str(folder),
        seed=training,
        max_steps=STEPS,
        per_device_train_batch_size=BATCH,
        num_generations=GROUP,
        learning_rate=RATES["GRPO"],
        lr_scheduler_type="constant",
        max_completion_length=LONGEST,
        max_tool_calling_iterations=WEEKS,
        reward_weights=[CALLED],
        gradient_checkpointing=False,
        bf16=False,
        use_cpu=True,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    trainer = GRPOTrainer(
        model,
        reward_funcs=[share_called],
        args=settings,
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        environment_factory=Retailer,
    )
    trainer.train()
    names = (f"rewards/{Retailer.__name__}/mean", "rewards/share_called/mean")
    history = [each for each in trainer.state.log_history if "reward" in each]
    return [(training, at, *(each[name] for name in names)) for at, each in enumerate(history)]


# -- the comparison -------------------------------------------------------------------------------


def orders_of(model: Any, tokenizer: Any, talks: Sequence[Any]) -> Iterator[int | None]:
    """Return the most probable order after each conversation; None without a call."""
    from trl.chat_template_utils import parse_response

    batch = tokenizer.apply_chat_template(
        list(talks),
        tools=TOOLS,
        add_generation_prompt=True,
        return_dict=True,
        return_tensors="pt",
        padding=True,
    )
    shown = batch["input_ids"]
    whole = model.generate(**batch, do_sample=False, max_new_tokens=16)
    for before, after in zip(shown, whole[:, shown.shape[1] :], strict=True):
        reply = parse_response(tokenizer, after.tolist(), prefix=before.tolist(), tools=TOOLS)
        calls = reply.get("tool_calls") or [{}]
        arguments = calls[0].get("function", {}).get("arguments", {})
        quantity = arguments.get("quantity") if isinstance(arguments, dict) else None
        yield quantity if isinstance(quantity, int) else None


def played(model: Any, tokenizer: Any) -> tuple[list[float], list[list[int]]]:
    """Play the held-out seeds; return the scores and the orders of each game.

    As in training, a game without a further call goes on with default actions.
    """
    games = [Retailer() for _ in HELD_OUT]
    talks = [prompt(game.reset(seed=seed)) for game, seed in zip(games, HELD_OUT, strict=True)]
    orders: list[list[int]] = [[] for _ in games]
    for week in range(WEEKS):
        left = [number for number, each in enumerate(orders) if len(each) == week]
        chosen = orders_of(model, tokenizer, [talks[number] for number in left]) if left else ()
        for number, quantity in zip(left, chosen, strict=True):
            if quantity is not None:
                said = games[number].order(quantity=quantity)
                talks[number] += [
                    call(quantity),
                    {"role": "tool", "name": "order", "content": said},
                ]
                orders[number].append(quantity)
    return [game.get_reward() for game in games], orders


def record(orders: Sequence[int], path: Path) -> None:
    """Record the game of the first held-out seed; decisions without an order are defaults."""
    path.unlink(missing_ok=True)
    setup = Setup.of(WORLD, seats=SEAT, others=OTHERS, params={"horizon": WEEKS})
    with setup.begin(HELD_OUT[0], record=path, label="grpo") as session:
        for quantity in orders:
            session.step({"do": "order", "quantity": quantity})
        while session.open:
            session.answer_default(session.open[0])
            session.advance()


def rule_scores(rule: str, seeds: Sequence[int]) -> list[float]:
    """Play a rule in the seat, with the same policies around it."""
    game = BeerGame.preset("poisson", horizon=WEEKS)
    lineup = {SEAT: rule, **dict.fromkeys(STAGES, OTHERS)}
    return [play(game, lineup, seed).score for seed in seeds]


def best(rules: Sequence[str]) -> str:
    """Return the rule of the highest mean score on other seeds."""
    return max(rules, key=lambda rule: float(np.mean(rule_scores(rule, TUNING_SEEDS))))


def write(path: Path, *rows: Sequence[Any]) -> None:
    """Write a table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def draw(curve: Sequence[Any], rules: dict[str, float], path: Path) -> None:
    """Draw the mean reward of each step with its range over trainings, and the share of calls.

    Steps below the picture are marked at its lower end.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "desim"})
    figure = Figure((6.4, 5.6), layout="constrained")
    panel, below = figure.subplots(2, sharex=True, height_ratios=(3, 1))
    rewards, shares = (
        np.array(
            [[row[at] for row in curve if row[0] == each] for each in {row[0] for row in curve}]
        )
        for at in (2, 3)
    )
    steps = np.arange(rewards.shape[1])
    low = rewards.mean(axis=0) < LOWEST
    shown = np.where(low, np.nan, rewards)
    panel.fill_between(steps, shown.min(axis=0), shown.max(axis=0), alpha=0.2)
    panel.plot(steps, shown.mean(axis=0), marker=".", label=f"GRPO, mean of {BATCH} rollouts")
    label = f"GRPO, step below the picture ({low.sum()} of {low.size})"
    ends = np.full(low.sum(), LOWEST)
    panel.plot(steps[low], ends, "v", color="C0", clip_on=False, label=label)
    for place, (name, score) in enumerate(rules.items()):
        panel.axhline(score, color=f"C{place + 1}", linestyle="--", label=f"{name}, 100 seeds")
    panel.set(ylabel="mean score of the chain (money)", ylim=(LOWEST, -200))
    figure.legend(loc="outside upper center", ncols=2, fontsize="small")
    below.plot(steps, shares.mean(axis=0))
    below.set(xlabel="training steps", ylabel="share called", ylim=(0, 1.1))
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Imitate, train, and compare the policies with rules on held-out seeds."""
    import torch

    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    stock = best([f"base_stock,target={target}" for target in TARGETS])
    steady = best([f"constant,quantity={quantity}" for quantity in range(ORDERS)])
    rules = {
        rule: rule_scores(rule, HELD_OUT) for rule in (steady, stock, "order_up_to", "sterman")
    }
    games = [random_game(seed) for seed in range(GAMES)]
    tokenizer = tokenizer_of(games)
    start = imitator(tokenizer, games)
    learnt: dict[str, list[float]] = {}
    curve: list[Any] = []
    for training in TRAININGS:
        model = copy.deepcopy(start)
        curve += trained(model, tokenizer, training, folder)
        write(folder / "curve.csv", ("training", "step", "reward", "share_called"), *curve)
        learnt[f"GRPO {training}"], orders = played(model.eval(), tokenizer)
        if training == TRAININGS[0]:
            record(orders[0], folder / "episode.jsonl.gz")
        calls = sum(map(len, orders)) / (WEEKS * len(orders))
        means = {name: interval(each) for name, each in (learnt | rules).items()}
        lines = [(name, each.n, each.mean, each.low, each.high) for name, each in means.items()]
        write(folder / "scores.csv", ("policy", "seeds", "mean", "low", "high"), *lines)
        draw(curve, {name: means[name].mean for name in rules}, folder / "curve.svg")
        print(f"GRPO {training}: {lines[len(learnt) - 1]}, called {calls:.3f}", flush=True)


if __name__ == "__main__":
    main()
