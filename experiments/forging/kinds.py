"""False entries by the kinds of reference `verification.md`, section 7.

Each function changes a copy of an honest entry with the code of desim itself: sums of records
are computed again, the manifest states what the records then hold, and is signed with a key of the
forger's own. The numbers in names are those of the catalogue.
"""

import contextlib
import gzip
import hashlib
import json
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from attrs import frozen

from desim import catalog, play
from desim.errors import DesimError
from desim.verification.entries.entry_folder import (
    CODE,
    MANIFEST,
    RECORDS,
    SIGNATURE,
    SUITE,
    EntryFolder,
    entry_suite,
    plan_of,
    record_files,
)
from desim.verification.entries.entry_manifest import EntryManifest
from desim.verification.figures import (
    figures_of,
    knowledge_of,
    outcome_of,
    revisions_of,
    used_by,
)
from desim.verification.record_content import content_digest
from desim.verification.rule_code import code_digest
from desim.verification.signed.canonical import canonical, digest
from desim.verification.signed.keys import PrivateKey
from desim.verification.suite_reach import check_suite_reach
from experiments.forging.honest import MODELS, OWN, RULES

Line = dict[str, Any]


@frozen
class Forger:
    """A forger with a copy of an entry.

    Attributes:
        path: The copy.
        key: His own key.
        chance: Chooses places and values.
        name: The entry's name.
    """

    path: Path
    key: PrivateKey
    chance: random.Random
    name: str

    @property
    def records(self) -> list[Path]:
        """The records in the folder."""
        return sorted((self.path / RECORDS).rglob("*.gz"))

    @property
    def manifest(self) -> Line:
        """The manifest as plain values."""
        plain: Line = json.loads((self.path / MANIFEST).read_bytes())
        return plain

    def record(self) -> Path:
        """Return one of the records."""
        return self.chance.choice(self.records)

    def lines(self, record: Path) -> list[Line]:
        """Return the lines of a record."""
        return [json.loads(line) for line in gzip.decompress(record.read_bytes()).splitlines()]

    def write(self, record: Path, lines: list[Line]) -> None:
        """Write a record with a sum that fits."""
        *before, last = lines
        last.pop("record_digest", None)
        head = b"".join(msgspec.json.encode(line) + b"\n" for line in before)
        start = msgspec.json.encode(last)[:-1]
        found = hashlib.sha256(head + start).hexdigest().encode()
        record.write_bytes(gzip.compress(head + start + b',"record_digest":"' + found + b'"}\n'))

    def sign(self, manifest: Line | None = None) -> None:
        """Write the manifest with the forger's key, and sign it."""
        plain = {**(manifest or self.manifest), "key": self.key.public.hex}
        content = canonical(plain)
        with contextlib.suppress(msgspec.ValidationError):  # in the one form that is read
            content = msgspec.convert(plain, EntryManifest).content
        (self.path / MANIFEST).write_bytes(content)
        (self.path / SIGNATURE).write_bytes(self.key.sign("entry", content))

    def restate(self) -> None:
        """State in the manifest what the records hold now, as an honest submitter would."""
        manifest, content = self.manifest, (self.path / SUITE).read_bytes()
        manifest["suite_file"] = digest(content)
        # The manifest keeps the rest as it was.
        with contextlib.suppress(DesimError, IndexError, KeyError, OSError):
            suite, manifest["suite"] = entry_suite(content, self.name)
            check_suite_reach(suite)
            plan = plan_of(suite, manifest["suite"])
            files = {job.name: [self.path / n for n in record_files(job)] for job in plan.jobs}
            manifest["records"] = {
                name: content_digest(self.path / name)
                for job in plan.jobs
                for name in record_files(job)
            }
            outcomes = {job.name: outcome_of(job, files[job.name]) for job in plan.jobs}
            manifest["results"] = msgspec.to_builtins(figures_of(plan.plan, outcomes))
            manifest["used"] = used_by(outcomes.values())
            manifest["worlds"] = revisions_of(plan.plan, outcomes)
            manifest["knows"] = knowledge_of(plan.plan, outcomes)
        self.sign(manifest)

    def decision(self, lines: list[Line]) -> Line:
        """Return one of the decisions."""
        return self.chance.choice([line for line in lines if line["line"] == "decision"])

    def changed(self, change: Callable[[list[Line]], object]) -> None:
        """Change the lines of a record, and state the rest as it then is."""
        record = self.record()
        lines = self.lines(record)
        change(lines)
        self.write(record, lines)
        self.restate()


Forgery = Callable[[Forger], object]


def _order(forger: Forger, line: Line) -> None:
    """Change an action to another valid one."""
    action = line["action"]
    name = next((key for key, value in action.items() if isinstance(value, int)), None)
    if name is None:
        line["action"] = {"do": "pass"} if action.get("do") != "pass" else {"do": "close_books"}
    else:
        action[name] += forger.chance.randint(1, 9)


# -- of rules --------------------------------------------------------------------------------------


def relabelled(forger: Forger) -> None:
    """1, 2: the record of a policy that knows the future, under the label of the rule."""
    record = forger.record()
    header = forger.lines(record)[0]
    other = "perfect" if header["model"] == "beer_game" else "pass"
    policies = (
        other if other in catalog.policies(catalog.model_class(header["model"])) else "greedy"
    )
    made = record.with_name("made.jsonl")
    play(
        catalog.model(header["model"], header["preset"], _changes(header)),
        policies,
        header["seed"],
        record=made,
    )
    lines = [json.loads(line) for line in made.read_bytes().splitlines()]
    made.unlink()
    for name in ("policies", "knows"):
        lines[0].pop(name, None)
        if name in header:
            lines[0][name] = header[name]
    forger.write(record, lines)
    forger.restate()


def action_edited(forger: Forger) -> None:
    """3: one action is another."""
    forger.changed(lambda lines: _order(forger, forger.decision(lines)))


def observation_edited(forger: Forger) -> None:
    """20: one observation is another."""

    def change(lines: list[Line]) -> None:
        seen = forger.decision(lines)["observation"]
        name = forger.chance.choice([k for k, v in seen.items() if isinstance(v, int)])
        seen[name] = int(seen[name]) + forger.chance.randint(1, 50)

    forger.changed(change)


def score_edited(forger: Forger) -> None:
    """4: the score of a record is higher."""

    def change(lines: list[Line]) -> None:
        lines[-1]["score"] = abs(lines[-1]["score"]) + forger.chance.randint(1, 1_000)

    forger.changed(change)


def metric_edited(forger: Forger) -> None:
    """4: a metric of a record is another."""

    def change(lines: list[Line]) -> None:
        metrics = lines[-1]["metrics"]
        numbers = [k for k, v in metrics.items() if isinstance(v, int | float)]
        name = forger.chance.choice(numbers)
        metrics[name] = (metrics[name] or 0) + forger.chance.randint(1, 9)

    forger.changed(change)


def results_edited(forger: Forger) -> None:
    """5: a figure of the manifest is better than the records."""
    manifest = forger.manifest
    world = forger.chance.choice([*manifest["results"]])
    columns = manifest["results"][world]["columns"]
    ends = columns[forger.chance.choice([*columns])]
    ends[forger.chance.choice([*ends])] = repr(float(forger.chance.randint(1, 10**6)))
    forger.sign(manifest)


def counts_edited(forger: Forger) -> None:
    """34: failed or silent episodes are counted as played."""
    manifest = forger.manifest
    world = forger.chance.choice([*manifest["results"]])
    name = forger.chance.choice(["n", "failed", "not_played", "cut", "open"])
    counts = manifest["results"][world]
    counts[name] = counts.get(name, 0) + forger.chance.randint(1, 3)
    forger.sign(manifest)


def lucky_seed(forger: Forger) -> None:
    """6: the episode of a lucky seed, labelled with the one that was given."""
    record, other = forger.chance.sample(forger.records, 2)
    lines = forger.lines(other)
    lines[0]["seed"] = forger.lines(record)[0]["seed"]
    if lines == forger.lines(record):
        lines[-1]["score"] += 1
    forger.write(record, lines)
    forger.restate()


def seed_of_another(forger: Forger) -> None:
    """6: an episode with a seed that is not the suite's."""
    forger.changed(lambda lines: lines[0].update(seed=forger.chance.randint(1_000, 10**6)))


def record_missing(forger: Forger) -> None:
    """7: a bad episode is left out, of the folder, of the manifest, or of both."""
    record, manifest = forger.record(), forger.manifest
    way = forger.chance.randint(0, 1)
    name = record.relative_to(forger.path).as_posix()
    if way or forger.name in ("rule", "treasurer"):
        del manifest["records"][name]
    record.unlink()
    forger.sign(manifest)


def record_copied(forger: Forger) -> None:
    """7: a bad episode is replaced by a copy of a good one."""
    good, bad = forger.chance.sample(forger.records, 2)
    shutil.copy(good, bad)
    forger.restate()


def record_added(forger: Forger) -> None:
    """7: an episode more than the suite has."""
    record = forger.record()
    extra = record.with_name(f"extra{forger.chance.randint(0, 99)}.jsonl.gz")
    shutil.copy(record, extra)
    manifest = forger.manifest
    if forger.chance.randint(0, 1):
        manifest["records"][extra.relative_to(forger.path).as_posix()] = content_digest(extra)
    forger.sign(manifest)


def easier_world(forger: Forger) -> None:
    """8: parameters of the world are changed and honestly played."""

    def change(lines: list[Line]) -> None:
        lines[0]["params"]["horizon"] += forger.chance.choice([-1, 1, 2])

    forger.changed(change)


def branch_as_episode(forger: Forger) -> None:
    """9: a branch, or a redrawn future, as a whole episode."""

    def change(lines: list[Line]) -> None:
        role = next(iter(lines[0]["policies"]))
        if forger.chance.randint(0, 1):
            lines[0]["starts"] = {role: forger.chance.randint(1, 3)}
        else:
            lines[0]["futures"] = [[1, forger.chance.randint(0, 10**6)]]

    forger.changed(change)


def other_label(forger: Forger) -> None:
    """1, 17: the record names another policy, or another level of knowledge."""

    def change(lines: list[Line]) -> None:
        role = next(iter(lines[0]["policies"]))
        if forger.chance.randint(0, 1):
            lines[0]["policies"][role] = "sterman"
        elif lines[0].pop("knows", None) is None:
            lines[0]["knows"] = {role: "future"}

    forger.changed(change)


def knowledge_hidden(forger: Forger) -> None:
    """17: an informed rule is declared blind, or a blind one informed."""
    manifest = forger.manifest
    knows = manifest.get("knows", {})
    world = forger.chance.choice([*manifest["worlds"]])
    if knows.pop(world, None) is None:
        knows[world] = forger.chance.choice(["rules", "state", "future"])
    forger.sign({**manifest, "knows": knows})


# -- of signatures and files -----------------------------------------------------------------------


def key_exchanged(forger: Forger) -> None:
    """15: another's entry under one's own key, with his signature, or signed as another type."""
    manifest = forger.manifest
    way = forger.chance.randint(0, 2)
    if way == 0:
        manifest["key"] = forger.key.public.hex
        (forger.path / MANIFEST).write_bytes(canonical(manifest))
    elif way == 1:
        manifest["submitter"] = "somebody else"
        (forger.path / MANIFEST).write_bytes(canonical(manifest))
    else:
        content = (forger.path / MANIFEST).read_bytes()
        (forger.path / SIGNATURE).write_bytes(forger.key.sign("commitment", content))


def signature_damaged(forger: Forger) -> None:
    """15: the signature is cut, changed, or missing."""
    path = forger.path / SIGNATURE
    content = bytearray(path.read_bytes())
    way = forger.chance.randint(0, 2)
    if way == 0:
        path.unlink()
    elif way == 1:
        path.write_bytes(content[: forger.chance.randint(0, len(content) - 3)])
    else:
        envelope = json.loads(content)
        sig = envelope["signatures"][0]["sig"]
        at = forger.chance.randint(0, 80)
        other = "A" if sig[at] != "A" else "B"
        envelope["signatures"][0]["sig"] = sig[:at] + other + sig[at + 1 :]
        path.write_bytes(json.dumps(envelope).encode())


def weak_key(forger: Forger) -> None:
    """15: a key of small order, for which one signature is valid for every message."""
    point = "01" + "00" * 31
    manifest = {**forger.manifest, "key": point, "submitter": str(forger.chance.random())}
    (forger.path / MANIFEST).write_bytes(canonical(manifest))
    envelope = json.loads(forger.key.sign("entry", b""))
    envelope["signatures"][0]["keyid"] = hashlib.sha256(bytes.fromhex(point)).hexdigest()
    envelope["signatures"][0]["sig"] = "AQ" + "A" * 84 + "=="
    (forger.path / SIGNATURE).write_bytes(json.dumps(envelope).encode())


def other_bytes(forger: Forger) -> None:
    """16: the manifest has the same content in other bytes, or repeated keys."""
    plain = forger.manifest
    ways = (
        json.dumps(plain).encode(),
        json.dumps(plain, indent=1).encode(),
        canonical(plain) + b"\n",
        canonical(plain)[:-1] + b',"submitter":"x"}',
        canonical(plain).replace(b'"n":', b'"n": ', 1),
    )
    content = forger.chance.choice(ways)
    (forger.path / MANIFEST).write_bytes(content)
    (forger.path / SIGNATURE).write_bytes(forger.key.sign("entry", content))


def other_suite(forger: Forger) -> None:
    """4, 8: the suite in the folder is easier than the one that the manifest names."""
    path = forger.path / SUITE
    text = path.read_text(encoding="utf-8")
    old, new = forger.chance.choice(
        [("0:3", "0:2"), ("horizon = 8", "horizon = 7"), ("[10, 20]", "[10, 30]"), ("/capped", "")]
    )
    path.write_text(text.replace(old, new), encoding="utf-8")
    manifest = forger.manifest
    manifest["suite_file"] = digest(path.read_bytes())
    forger.sign(manifest)


def old_revision(forger: Forger) -> None:
    """35: the revision of a world is another."""
    manifest = forger.manifest
    world = forger.chance.choice([*manifest["worlds"]])
    manifest["worlds"][world] = str(forger.chance.randint(2, 9))
    forger.sign(manifest)


def stranger_files(forger: Forger) -> None:
    """37: links, pipes, other files, and names that lead elsewhere."""
    way = forger.chance.randint(0, 4)
    record = forger.record()
    if way == 0:
        (forger.path / "payload.py").write_text("raise SystemExit", encoding="utf-8")
    elif way == 1:
        (forger.path / RECORDS / "link.jsonl.gz").symlink_to("/etc/passwd")
    elif way == 2:
        os.mkfifo(forger.path / RECORDS / "pipe.jsonl.gz")
    elif way == 3:
        record.write_bytes(gzip.compress(b"\0" * (1 << 26)))
    else:
        manifest = forger.manifest
        manifest["records"]["../../etc/passwd"] = "0" * 64
        forger.sign(manifest)


def stranger_code(forger: Forger) -> None:
    """19, 37: the suite names a class or a file of the forger's own."""
    path = forger.path / SUITE
    text = path.read_text(encoding="utf-8")
    start, own = text.split(f"[entries.{forger.name}]")
    own, *rest = own.split("\n[")
    named = forger.chance.choice(["os:system", "rollout,policy=os:system"])
    if forger.chance.randint(0, 1):
        start = start.replace('"beer_game/poisson"', '"os:path"').replace(
            "enterprise_arena", "os:x"
        )
    elif forger.name in RULES:
        own = re.sub('policy = ".*"', f'policy = "{named}"', own)
    else:
        part = forger.chance.choice(["conversation", "router", "memory"])
        own = own.replace("{ mode", f'{{ {part} = "os:path", mode')
    content = "\n[".join([start + f"[entries.{forger.name}]" + own, *rest])
    path.write_text(content, encoding="utf-8")
    forger.restate()


def lines_moved(forger: Forger) -> None:
    """21: lines are removed, swapped, doubled, or taken from another record."""

    def change(lines: list[Line]) -> None:
        places = [n for n, line in enumerate(lines) if line["line"] == "decision"]
        at, other = forger.chance.sample(places, 2)
        way = forger.chance.randint(0, 3)
        if way == 0:
            del lines[at]
        elif way == 1:
            lines.insert(at, lines[at])
        elif way == 2:
            lines[at], lines[other] = lines[other], lines[at]
            if lines[at] == lines[other]:
                del lines[at]
        else:
            lines[at] = {**lines[other], "t": lines[at]["t"]}
            if lines[at]["observation"] == lines[other]["observation"]:
                lines[at]["t"] += 1

    forger.changed(change)


def failure_as_result(forger: Forger) -> None:
    """22: a failed or cut record has a result."""

    def change(lines: list[Line]) -> None:
        del lines[forger.chance.randint(2, len(lines) - 2) : -1]

    forger.changed(change)


# -- of language models ----------------------------------------------------------------------------


def _replies(lines: list[Line]) -> list[Line]:
    return [line["entry"] for line in lines if "reply" in (line.get("entry") or {})]


def reply_edited(forger: Forger) -> None:
    """23: a reply is another, and the action is not."""

    def change(lines: list[Line]) -> None:
        reply = forger.chance.choice(_replies(lines))["reply"]
        reply["text"] = f'{{"order_qty": {forger.chance.randint(20, 90)}}}'

    forger.changed(change)


def reply_left_out(forger: Forger) -> None:
    """24: a reply is left out, with or without its request."""

    def change(lines: list[Line]) -> None:
        places = [n for n, line in enumerate(lines) if "reply" in (line.get("entry") or {})]
        at = forger.chance.choice(places)
        del lines[at - forger.chance.randint(0, 1) : at + 1]

    forger.changed(change)


def tokens_lowered(forger: Forger) -> None:
    """25: a reply has fewer tokens, in the reply, in the notes, or in the result."""

    def change(lines: list[Line]) -> None:
        way = forger.chance.randint(0, 2)
        if way == 0:
            forger.chance.choice(_replies(lines))["reply"]["prompt_tokens"] -= 5
        elif way == 1:
            forger.decision(lines)["notes"]["usage"]["cost"] = 0.0
            forger.decision(lines)["notes"]["usage"]["calls"] += 1
        else:
            usage = next(iter(lines[-1]["usage"].values()))
            usage["prompt_tokens"] //= 2

    forger.changed(change)


def use_lowered(forger: Forger) -> None:
    """25: the manifest states fewer calls, tokens or money."""
    manifest = forger.manifest
    name = forger.chance.choice([*manifest["used"]])
    manifest["used"][name] = f"{float(manifest['used'][name]) / 2:g}"
    forger.sign(manifest)


def rule_as_model(forger: Forger) -> None:
    """26: the record of a rule is labelled as a model's, without replies or with invented ones."""

    def change(lines: list[Line]) -> None:
        lines[:] = [line for line in lines if line["line"] != "transcript"]

    forger.changed(change)


def other_method(forger: Forger) -> None:
    """27: the method or an option is not the one that was played."""
    path = forger.path / SUITE
    text = path.read_text(encoding="utf-8")
    new = forger.chance.choice(["temperature = 0.1", "seed = 7", "reply_tokens = 9"])
    path.write_text(text.replace('mode = "json"', f'mode = "json", {new}'), encoding="utf-8")

    def change(lines: list[Line]) -> None:
        for role, label in lines[0]["policies"].items():
            name = new.replace(" ", "")
            lines[0]["policies"][role] = f"{label},{name}"

    for record in forger.records:
        lines = forger.lines(record)
        change(lines)
        forger.write(record, lines)
    forger.restate()


def reply_shared(forger: Forger) -> None:
    """24: the replies of one episode are used for another too."""
    record, other = forger.chance.sample(forger.records, 2)
    mine, theirs = forger.lines(record), _replies(forger.lines(other))
    for entry, given in zip(_replies(mine), theirs, strict=False):
        entry["reply"]["id"] = given["reply"]["id"]
    forger.write(record, mine)
    forger.restate()


# -- of the code of a submitter's own rules --------------------------------------------------------

#: The path of the rule in the entry.
_CODE = f"{CODE}/experiments/forging/own_rule.py"

#: Plays the clairvoyant with what it is given, or with what is found in the memory of its process.
_CLAIRVOYANT = """
from desim.episodes.lineup import policy_at, seat_of

class Cover:
    @classmethod
    def seated(cls, seat, weeks: int = 4):
        model, seed = {found}
        return policy_at("perfect", seat_of(model, seat.role, seed))
"""
_FOUND = (
    "seat.model, seat.seed",
    "seat._model, seat.seed",
    "next((o, seat.seed) for o in __import__('gc').get_objects() if hasattr(o, 'horizon'))",
    "next((o.model, o.seed) for o in __import__('gc').get_objects() if hasattr(o, 'run'))",
)


def code_edited(forger: Forger) -> None:
    """14, 18: the code is another one, with or without its digest in the manifest."""
    text = (forger.path / _CODE).read_text(encoding="utf-8")
    edited = text.replace("max(0,", f"max({forger.chance.randint(1, 9)},")
    (forger.path / _CODE).write_text(edited, encoding="utf-8")
    _restate_code(forger, named=bool(forger.chance.randint(0, 1)))


def code_added(forger: Forger) -> None:
    """37: the folder of code holds another file, or one whose name leads elsewhere."""
    name = forger.chance.choice(["more.py", "table.csv", "__main__.py", "a-b.py", "code.so"])
    (forger.path / CODE / name).write_text("", encoding="utf-8")
    forger.sign()


def clairvoyant_code(forger: Forger) -> None:
    """18, 19: the records of the clairvoyant, with code that plays it if it finds the seed."""
    relabelled(forger)
    source = _CLAIRVOYANT.replace("{found}", forger.chance.choice(_FOUND))
    (forger.path / _CODE).write_text(source, encoding="utf-8")
    _restate_code(forger, named=True)


def _restate_code(forger: Forger, *, named: bool) -> None:
    manifest = forger.manifest
    if named:
        manifest["code"] = code_digest(EntryFolder.opened(forger.path).code())
    forger.sign(manifest)


OF_ALL: tuple[Forgery, ...] = (
    action_edited, observation_edited, score_edited, metric_edited, results_edited, counts_edited,
    lucky_seed, seed_of_another, record_missing, record_copied, record_added, easier_world,
    branch_as_episode, other_label, knowledge_hidden, key_exchanged, signature_damaged, weak_key,
    other_bytes, other_suite, old_revision, stranger_files, stranger_code, lines_moved,
    failure_as_result,
)  # fmt: skip
OF_RULES: tuple[Forgery, ...] = (relabelled,)
OF_MODELS: tuple[Forgery, ...] = (
    reply_edited, reply_left_out, tokens_lowered, use_lowered, rule_as_model, other_method,
    reply_shared,
)  # fmt: skip


OF_CODE: tuple[Forgery, ...] = (code_edited, code_added, clairvoyant_code)


def _changes(header: Line) -> dict[str, str]:
    return {"horizon": str(header["params"]["horizon"])}


def kinds(entry: str) -> Iterator[Forgery]:
    """Yield the kinds of forgeries of an entry: of rules, of its own code, or of a model."""
    if entry == OWN:
        yield from OF_CODE
        return
    yield from OF_ALL
    yield from OF_MODELS if entry in MODELS else OF_RULES
