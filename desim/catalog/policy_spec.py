"""A policy as text: its name or `package.module:Name`, then `,key=value` for each argument."""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from types import MethodType
from typing import Any

import attrs
from attrs import frozen

from desim.errors import UsageError
from desim.joined_packages import spec_name

#: A name or an argument of a spec, up to the next comma outside quotes. Only a value that begins
#: with a quote is quoted.
_PART = re.compile(r'(?:^|(?<=,))([^,="]*=\s*"(?:[^"]|"")*"\s*(?=,|$)|[^,]*)(?:,|$)')

#: The address of an object in memory, in the text of a `repr`.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def _quoted(value: str) -> str:
    """Return a value as it is written in a spec."""
    if "," in value or value.startswith('"'):
        return '"' + value.replace('"', '""') + '"'
    return value


@frozen
class Spec:
    """A policy's name and arguments.

    Attributes:
        name: A name in the catalog, or `package.module:Name`.
        arguments: Texts by argument.

    >>> Spec.read("base_stock,target=1200")
    Spec(name='base_stock', arguments={'target': '1200'})
    >>> str(Spec.read('script,file="a,b.jsonl"'))
    'script,file="a,b.jsonl"'
    """

    name: str
    arguments: Mapping[str, str] = attrs.field(factory=dict)

    @classmethod
    def read(cls, text: str) -> "Spec":
        """Read a spec; a value with a comma is in double quotes, and a quote in it is doubled.

        Raises:
            UsageError: It has no name, or an argument is not KEY=VALUE or is given twice.
        """
        name, *parts = _PART.findall(text.strip())
        arguments: dict[str, str] = {}
        for part in parts:
            key, equals, value = part.partition("=")
            key = key.strip()
            if not (key and equals):
                raise UsageError(f"{part!r} in policy {text!r} is not KEY=VALUE")
            if key in arguments:
                raise UsageError(f"{key} was given twice in policy {text!r}")
            value = value.strip()
            is_quoted = len(value) > 1 and value[0] == value[-1] == '"'
            arguments[key] = value[1:-1].replace('""', '"') if is_quoted else value
        if not name:
            raise UsageError(f"policy {text!r} has no name; write NAME[,KEY=VALUE]...")
        return cls(name, arguments)

    def __str__(self) -> str:
        return ",".join([self.name, *(f"{k}={_quoted(v)}" for k, v in self.arguments.items())])


@frozen
class ConfiguredClass:
    """A policy class with arguments, for a class that a spec could name in this process only.

    Workers cannot look up a notebook's class by name, but can receive the class itself.

    Attributes:
        policy: The class.
        arguments: Texts by argument, as in a spec.
    """

    policy: type
    arguments: Mapping[str, str]

    def __str__(self) -> str:
        return str(Spec(label(self.policy), self.arguments))


def read_policies(texts: Sequence[str]) -> str | dict[str, str]:
    """Read `[ROLE=]SPEC` texts: one spec for the default roles, or a mapping of roles to specs.

    In a mapping, a spec without a role has the key "": it plays the default roles that no other
    spec names.

    Raises:
        UsageError: A role is named twice, or two specs have no role.
    """
    specs: dict[str, str] = {}
    for text in texts:
        head = text.split(",", 1)[0]
        role, equals, name = head.partition("=")
        role, spec = (role, name + text[len(head) :]) if equals else ("", text)
        if role in specs:
            raise UsageError(
                f"two policies for {role!r} were given; a role takes one"
                if role
                else f"policies {specs['']!r} and {text!r} name no role; write ROLE=SPEC"
            )
        specs[role] = spec
    return specs if len(specs) != 1 else specs.get("", specs)


def label(policy: Any) -> str:
    """Return the name of a policy in tables and records: its spec, its `repr`, or its class."""
    if isinstance(policy, str):
        return str(Spec.read(policy))
    if isinstance(policy, ConfiguredClass):
        return str(policy)
    if isinstance(policy, partial):
        given = [*map(repr, policy.args), *(f"{k}={v!r}" for k, v in policy.keywords.items())]
        return _ADDRESS.sub("", ",".join([label(policy.func), *given]))
    if isinstance(policy, MethodType) and attrs.has(type(policy.__self__)):
        return f"{label(policy.__self__)}.{policy.__name__}"
    named = policy if hasattr(policy, "__qualname__") else type(policy)
    if named is policy or not attrs.has(named):
        return spec_name(named)
    hidden = [one.name for one in attrs.fields(named) if one.repr and not one.init]
    return _ADDRESS.sub("", _without(policy, hidden) if hidden else repr(policy))


def _without(policy: Any, hidden: Collection[str]) -> str:
    """Return the `repr` of an attrs instance without its memory, which its spec does not name."""
    cls = type(policy)
    shown = [one.name for one in attrs.fields(cls) if one.repr and one.name not in hidden]
    given = ", ".join(f"{name}={getattr(policy, name)!r}" for name in shown)
    return f"{cls.__qualname__.rsplit('>.', 1)[-1]}({given})"
