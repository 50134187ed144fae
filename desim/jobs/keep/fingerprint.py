"""The fingerprint of a sweep: everything that determines its rows, as text by topic.

Beside the grid these are versions, the definitions that models and policies reach in source (see
`definitions`), the code of a notebook and of local classes and functions (see `code_digests`), and
the content of every file that a parameter or an argument names. Files that a policy opens itself
are added when it opens them (see `noted_files`); services that it contacts are not covered.
"""

import hashlib
import importlib.metadata
import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

import attrs
import msgspec

from desim.catalog import policy_finder
from desim.catalog.policy_spec import ConfiguredClass, Spec
from desim.core.limits import Limits
from desim.core.model_protocols import HasParts, Model, offers
from desim.core.policy_protocols import DependsOnModel, NamesClasses, NamesPolicies
from desim.episodes.lineup import Policies, assigned, maker_of
from desim.jobs.keep.code_digests import code_digests, forget_standard_input
from desim.jobs.keep.definitions.data_files import digest
from desim.jobs.keep.definitions.module_files import modules_that_define
from desim.jobs.keep.definitions.modules import is_installed
from desim.jobs.keep.definitions.reached import Reached, reached
from desim.jobs.plan.grid import Grid
from desim.jobs.plan.parameter_values import value_text
from desim.schema import to_plain
from desim.version import __version__

if TYPE_CHECKING:  # a sweep without a design does not load numpy for it
    from desim.jobs.plan.parameter_points import Design


#: The topic of the definitions that are reached, and the one that holds a digest of each, by which
#: an error text names what has changed.
CODE, DEFINITIONS = "code", "definitions"

#: Packages whose version may change a row of any model; users' code adds those that it uses.
_PACKAGES = ("simpy", "numpy")

#: The topic of texts that policies read of a model.
_TEXTS = "the rules and schemas that a policy reads"

#: Marks a text that stands for the content of files.
_DIGEST = "sha256:"

#: The function that plays a row, by name: an executor's module imports this one.
_PLAYS = "desim.jobs.run.play_job:play_to_json"

#: Most parts of a text such as csv:FILE:COLUMN that are tried as the name of a file.
_MAX_PARTS = 6


def fingerprint(plan: Grid) -> dict[str, str]:
    """Return everything that determines the rows of a sweep, by topic.

    Raises:
        UsageError: A source file or a named file cannot be read.
    """
    models = [[v.name, v.preset, to_plain(v.model)] for v in plan.variants]
    return {
        "models": msgspec.json.encode(models).decode(),
        "policies": "; ".join(entry.label for entry in plan.entries),
        "seeds": ",".join(_ranges(plan.seeds)),
        "limits": limits_text(plan.limits),
        # Only where they are wanted, so that sweeps without have the fingerprint they had before.
        **({"series": "in rows"} if plan.series else {}),
        **({"records": "of all episodes"} if plan.out else {}),
        **({"design": _points(plan.design)} if plan.design else {}),
        **code_topics(_found(plan)),
    }


def code_topics(found: Iterable[Any]) -> dict[str, str]:
    """Return what determines how something is played, by topic: versions, code and files.

    Args:
        found: The classes and functions that play, texts that may name files, and as bytes what
            counts by its content; see `players`.

    Raises:
        UsageError: A source file or a named file cannot be read.
    """
    forget_standard_input()
    found = list(found)
    codes, met = code_digests(one for one in found if not isinstance(one, str | bytes))
    roots = [one for one in found if not isinstance(one, str | bytes)]
    code = reached([_PLAYS, *roots, *(one for one in met if not is_installed(one))])
    contents = {
        CODE: code.digest,
        **codes,
        **_file_digests(one for one in found if isinstance(one, str)),
        **_text_digests(one for one in found if isinstance(one, bytes)),
    }
    return {
        "desim": __version__,
        "python": ".".join(platform.python_version_tuple()[:2]),
        **_versions(code),
        **{topic: _DIGEST + text for topic, text in contents.items()},
        DEFINITIONS: msgspec.json.encode(code.definitions).decode(),
    }


def topics_beyond(known: Mapping[str, str], topics: Mapping[str, str]) -> dict[str, str]:
    """Return the topics that differ from known ones; of definitions those that are not known."""
    beyond = {topic: text for topic, text in topics.items() if known.get(topic) != text}
    if DEFINITIONS in beyond and DEFINITIONS in known:
        before, now = (msgspec.json.decode(one[DEFINITIONS]) for one in (known, topics))
        own = {name: text for name, text in now.items() if before.get(name) != text}
        beyond[DEFINITIONS] = msgspec.json.encode(own).decode()
    return beyond


def differing_topics(
    stored: Mapping[str, str], now: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the topics in which two fingerprints differ, of both, definition by definition.

    The topics of a played part begin with its name, for example `entries.mine: code`.
    """
    before, after = ({**one, **_definitions(one)} for one in (stored, now))
    topics = [one for one in {**before, **after} if before.get(one) != after.get(one)]
    named = [one for one in topics if _kind(one) not in {CODE, DEFINITIONS}] or topics
    return {t: before[t] for t in named if t in before}, {t: after[t] for t in named if t in after}


def _definitions(topics: Mapping[str, str]) -> dict[str, str]:
    """Return the definitions that are reached as topics of their own."""
    return {
        topic.removesuffix(DEFINITIONS) + _definition(name): _DIGEST + text
        for topic, known in topics.items()
        if _kind(topic) == DEFINITIONS
        for name, text in msgspec.json.decode(known, type=dict[str, str]).items()
    }


def _kind(topic: str) -> str:
    """Return a topic without the name of the part that it is of."""
    return topic.rpartition(": ")[2]


def _definition(name: str) -> str:
    """Return a definition's name with its module, where one module alone defines that name."""
    modules = modules_that_define(name)
    return f"{name} of {modules[0]}" if len(modules) == 1 else name


def _versions(code: Reached) -> dict[str, str]:
    return {name: _version(name) for name in (*_PACKAGES, *code.packages)}


def _version(package: str) -> str:
    """Return the version of the package imported by this name; empty if it declares none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        known = importlib.metadata.packages_distributions().get(package, ())
        return ", ".join(importlib.metadata.version(name) for name in sorted({*known}))


def players(model: Model[Any], policies: Policies) -> Iterator[Any]:
    """Yield what some policies of a model depend on.

    Yields:
        Their classes and functions, what these find by name, and as texts what their specs hold;
        as bytes what they read of the model.
    """
    for policy, of in assigned(model, policies):
        yield from _policy(policy, of)
    yield from _lineups(model, policies)


def _lineups(model: Model[Any], policies: Policies) -> Iterator[Any]:
    """Yield the functions that return the line-ups which are given by name."""
    given = policies.values() if isinstance(policies, Mapping) else (policies,)
    models = [model, *(model.models.values() if offers(model, HasParts) else ())]
    for name in (one for one in given if isinstance(one, str)):
        for of in models:
            if policy_finder.lineup(name.strip(), of):
                yield policy_finder.lineups_function(of)


def digest_text(digest: str) -> str:
    """Return the text of a topic that stands for content with a digest."""
    return _DIGEST + digest


def text_digest(content: bytes) -> str:
    """Return the text of a topic that stands for some content."""
    return _DIGEST + hashlib.sha256(content).hexdigest()


def limits_text(limits: Limits | None) -> str:
    """Return the limits of an episode as the text of a topic."""
    given = attrs.asdict(limits) if limits else {}
    return ", ".join(f"{v:g} {k}" for k, v in given.items() if v is not None) or "none"


def is_digest(text: str) -> bool:
    """Return whether the text of a topic stands for the content of files."""
    return text.startswith(_DIGEST)


def _points(design: "Design") -> str:
    """Return the points in their order; the models and policies at them are topics of their own."""
    plain = [design.kind, design.names, [list(map(value_text, point)) for point in design.points]]
    return msgspec.json.encode(plain).decode()


def _found(plan: Grid) -> Iterator[Any]:
    """Yield the classes and functions that play, and all texts that were given."""
    yield from (one for one in inside(plan.changes) if isinstance(one, str))
    if plan.design:
        points = (inside(point) for point in plan.design.points)
        yield from (one for values in points for one in values if isinstance(one, str))
    for variant in plan.variants:
        yield from inside(variant.model)
    for entry in plan.entries:
        yield from players(plan.variants[0].model, entry.policies)


def _policy(policy: Any, model: Model[Any]) -> Iterator[Any]:
    if not isinstance(policy, str | ConfiguredClass):
        yield from inside(policy)
        return
    maker = maker_of(policy, model)
    given = policy.arguments if isinstance(policy, ConfiguredClass) else Spec.read(policy).arguments
    yield maker
    if offers(maker, DependsOnModel):
        yield from maker.dependencies(model)
    yield from given.values()
    if offers(maker, NamesClasses):
        yield from maker.inner_classes(given)
    if offers(maker, NamesPolicies):
        for inner in maker.inner_policies(given):
            yield from _policy(inner, model)


def inside(value: Any) -> Iterator[Any]:
    """Yield the classes, functions and texts that a value is made of."""
    match value:
        case str() | type() | FunctionType():
            yield value
        case os.PathLike():
            yield os.fspath(value)
        case Mapping():
            yield from inside(list(value.values()))
        case Sequence() if not isinstance(value, bytes | range):
            for one in value:
                yield from inside(one)
        case _ if attrs.has(type(value)):
            yield type(value)
            yield from inside(_members(value))
        case _ if type(value).__module__ != "builtins":
            yield type(value)


def _members(value: Any) -> list[Any]:
    return [getattr(value, one.name) for one in attrs.fields(type(value))]


def _file_digests(texts: Iterable[str]) -> dict[str, str]:
    files = dict.fromkeys(file for text in texts for file in _named_files(text))
    return {f"file {file}": digest(file) for file in files}


def _text_digests(texts: Iterable[bytes]) -> dict[str, str]:
    every = [hashlib.sha256(one).hexdigest() for one in texts]
    return {_TEXTS: hashlib.sha256("".join(every).encode()).hexdigest()} if every else {}


def _named_files(text: str) -> Iterator[str]:
    """Yield the files that a text names: all of it, or the parts between colons."""
    parts = text.split(":")[:_MAX_PARTS]
    for start in range(len(parts)):
        for stop in range(start + 1, len(parts) + 1):
            if os.path.isfile(name := ":".join(parts[start:stop])):  # noqa: PTH113 (any text)
                yield name


def _ranges(seeds: Sequence[int]) -> Iterator[str]:
    """Yield consecutive seeds as START:STOP, single ones as they are."""
    start = 0
    for i in range(1, len(seeds) + 1):
        if i == len(seeds) or seeds[i] != seeds[i - 1] + 1:
            single = i - start == 1
            yield str(seeds[start]) if single else f"{seeds[start]}:{seeds[i - 1] + 1}"
            start = i
