"""`suite.json`: the suite that a folder holds, as data from which its results can be printed.

Beside the suite's file it keeps the facts that only the named classes declare: which entries
contact a host, how long they are trained, and the published numbers. So printing results imports
and opens nothing that a folder names, which may come from an untrusted source.

The identity of a suite's episodes, by topic: parameters, policies, code and files. Seeds are in the
names of jobs, so that a folder grows: a suite with more seeds, worlds or entries continues it.

Topics of code and of named files are those of sweeps (`desim.engine.keep.fingerprint`), under the
world or the entry that reaches them. Limits of money and columns are not included, so that a folder
can be continued with other ones.
"""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import msgspec

from desim import catalog
from desim.engine.keep.fingerprint import code_topics, topics_beyond
from desim.engine.keep.record_folder import MANIFEST, RecordFolder
from desim.engine.policies import inside, players
from desim.errors import UsageError
from desim.schema import to_plain
from desim.show.files import read_regular
from desim.suites.published import published_text
from desim.suites.suite_file import Suite, parsed_suite, suite_content
from desim.suites.suite_plan import Plan, PlannedEntry, PlannedWorld, plan_to_print

#: The format of the folder, counted up when its meaning changes.
FORMAT = "desim-suite/2"


#: Most bytes of a manifest.
_MAX_BYTES = 64_000_000


class _EntryFacts(msgspec.Struct, frozen=True):
    host: str = ""
    training: int = 0


class _Published(msgspec.Struct, frozen=True):
    world: str
    entry: str
    column: str
    text: str


class Manifest(msgspec.Struct, frozen=True):
    """The suite in a folder.

    Attributes:
        format: `FORMAT`.
        file: The path of the suite's file; it is shown and never opened.
        text: The content of the file.
        entries: By name, the declarations of the classes of their policies.
        published: The published numbers in the suite's columns.
        checksum: SHA-256 of the manifest with an empty checksum.
        clusters: By world the clusters of its seeds, where it has any.
        tuning: Whether its tuning seeds were played.
    """

    format: str
    file: str
    text: str
    entries: dict[str, _EntryFacts]
    published: tuple[_Published, ...]
    checksum: str = ""
    clusters: dict[str, tuple[str, ...]] = {}
    tuning: bool = False

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """Return the manifest of a suite that is about to be played.

        Raises:
            UsageError: The suite's file cannot be read.
        """
        text = suite_content(plan.path)
        entries = {name: _EntryFacts(one.host, one.training) for name, one in plan.entries.items()}
        clusters = {name: one.clusters for name, one in plan.worlds.items() if one.clusters}
        published = tuple(_published(plan))
        path = str(plan.path.resolve())
        made = cls(
            FORMAT,
            path,
            text,
            entries,
            published,
            clusters=clusters,
            tuning=plan.tuning,
        )
        return msgspec.structs.replace(made, checksum=made.sum())

    def sum(self) -> str:
        """Return the checksum that the manifest should have."""
        plain = {**msgspec.structs.asdict(self), "checksum": ""}
        for name in ("clusters", "tuning"):  # as in folders of versions without them
            if not plain[name]:
                del plain[name]
        return hashlib.sha256(msgspec.json.encode(plain)).hexdigest()

    def plan(self) -> Plan:
        """Return the plan to print.

        Raises:
            UsageError: The text does not describe a suite.
        """
        played = {name: (one.host, one.training) for name, one in self.entries.items()}
        numbers = {(one.world, one.entry, one.column): one.text for one in self.published}
        content, path = self.text, Path(self.file)
        return plan_to_print(path, content, played, numbers, self.clusters, tuning=self.tuning)


@contextlib.contextmanager
def opened_suite(folder: RecordFolder, plan: Plan, *, restart: bool = False) -> Iterator[None]:
    """Lock a folder for a suite, after a check that it holds this one or nothing.

    Args:
        folder: The folder.
        plan: The suite.
        restart: Discard the episodes in the folder; see `RecordFolder.opened`.

    Raises:
        UsageError: See `RecordFolder.opened`; or the suite's file cannot be read.
    """
    if not restart:
        _refuse_earlier_format(folder)
        _refuse_other_seeds(folder, plan)
    manifest = msgspec.json.encode(Manifest.of(plan))
    with folder.opened(identity(plan), plan.jobs, manifest, restart=restart):
        yield


def check_suite(folder: RecordFolder, plan: Plan) -> None:
    """Check that a folder holds a suite or nothing; nothing is written.

    Raises:
        UsageError: See `RecordFolder.check`.
    """
    _refuse_earlier_format(folder)
    _refuse_other_seeds(folder, plan)
    folder.check(identity(plan), plan.jobs)


def plan_of(folder: RecordFolder) -> Plan:
    """Return the plan of the suite that was played into a folder, to print its results.

    Raises:
        UsageError: The folder holds no suite, or a damaged one.
    """
    found = read_manifest(folder.path)
    if found is None:
        raise UsageError(f"{folder.path} holds no suite; give a suite's file and --out FOLDER")
    return found.plan()


def suite_of(folder: RecordFolder) -> Suite:
    """Return the suite that was played into a folder, by the text that it had.

    Raises:
        UsageError: The folder holds no suite, or a damaged one.
    """
    found = read_manifest(folder.path)
    if found is None:
        raise UsageError(f"{folder.path} holds no suite; desim bench SUITE --out plays one into it")
    faults: list[str] = []
    suite = parsed_suite(Path(found.file), found.text, faults)
    if faults:
        raise UsageError(f"{folder.path}: {faults[0]}")
    return suite


def _refuse_earlier_format(folder: RecordFolder) -> None:
    """Refuse a folder whose manifest cannot be read, unless a journal says what was played."""
    if not folder.has_journal:
        read_manifest(folder.path)


def _refuse_other_seeds(folder: RecordFolder, plan: Plan) -> None:
    """Refuse a folder of tuning seeds for those of the report, and the reverse."""
    found = None
    with contextlib.suppress(UsageError):  # the folder is checked for damage elsewhere
        found = read_manifest(folder.path)
    if found is not None and found.tuning != plan.tuning:
        kinds = ("the report", "tuning")
        raise UsageError(
            f"{folder.path} holds episodes of the seeds of {kinds[found.tuning]}, and those of "
            f"{kinds[plan.tuning]} are to be played; choose another folder (--out)"
        )


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest in a folder; None without the file.

    Raises:
        UsageError: The manifest cannot be read, is damaged, or has another format.
    """
    path = folder / MANIFEST
    try:
        content = read_regular(path, _MAX_BYTES)
        form = msgspec.json.decode(content, type=_Format).format
        if form != FORMAT:
            raise UsageError(_other_format(path, form))
        manifest = msgspec.json.decode(content, type=Manifest)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise UsageError(f"{folder} is no folder") from None
    except OSError as fault:
        raise UsageError(f"cannot read {path}: {fault.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise UsageError(f"{path} is damaged: {fault}; {_AGAIN}") from None
    if manifest.sum() != manifest.checksum:
        raise UsageError(f"{path} is damaged: it does not fit its checksum; {_AGAIN}")
    return manifest


_AGAIN = "the command that plays the suite writes it anew"


class _Format(msgspec.Struct):
    format: str


def _other_format(path: Path, form: str) -> str:
    if form == "desim-suite/1":
        return (
            f"{path} is of an earlier desim, which did not keep the code that its episodes were "
            "played with, so they cannot be continued; choose another folder (--out), or discard "
            "them (--restart)"
        )
    return f"{path} has the format {form!r}; this desim reads {FORMAT!r}"


def _published(plan: Plan) -> list[_Published]:
    columns = ((world, column) for world in plan.shown.values() for column in world.table.columns)
    found = (
        (world.name, entry, column.published, published_text(plan, world, entry, column.published))
        for world, column in columns
        for entry in plan.entries
    )
    return [_Published(*one) for one in found if one[-1]]


def identity(plan: Plan) -> dict[str, str]:
    """Return everything that determines the episodes of a suite, by topic.

    Args:
        plan: A plan with models, not one to print.

    Raises:
        UsageError: A source file or a named file cannot be read.
    """
    common = code_topics([])
    of_worlds = {
        name: topics_beyond(common, code_topics(inside([world.model, world.table.set])))
        for name, world in plan.worlds.items()
    }
    of_entries = {
        name: topics_beyond(common, _entry_topics(plan, entry))
        for name, entry in plan.entries.items()
    }
    return {
        **{f"worlds.{name}": model_text(world) for name, world in plan.worlds.items()},
        **{f"entries.{name}": _entry_text(entry) for name, entry in plan.entries.items()},
        **common,
        **dict(_named("worlds", of_worlds)),
        **dict(_named("entries", of_entries)),
    }


def model_text(world: PlannedWorld) -> str:
    """Return the model of a world with all parameters, and the options of policies in it."""
    model = [catalog.model_name(type(world.model)), to_plain(world.model)]
    others = [world.table.policy] if world.table.policy else []
    return _json_text([*model, world.episodes, world.table.options, *others])


def _entry_text(entry: PlannedEntry) -> str:
    return _json_text([entry.policies, entry.table.worlds])


def _entry_topics(plan: Plan, entry: PlannedEntry) -> dict[str, str]:
    """Return the topics of an entry's policies in the worlds that it plays."""
    worlds = {job.world: plan.worlds[job.world] for job in plan.jobs if job.entry == entry.name}
    found = (one for w in worlds.values() for one in players(w.model, entry.policies_in(w)))
    return code_topics(found)


def _named(kind: str, found: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield topics under the name of their world or entry."""
    for name, topics in found.items():
        yield from ((f"{kind}.{name}: {topic}", text) for topic, text in topics.items())


def _json_text(value: Any) -> str:
    return json.dumps(to_plain(value), sort_keys=True)
