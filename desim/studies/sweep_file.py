"""The sweep that the command line describes: by options, a TOML file, or options over a file.

A file holds `model`, `preset`, `policies` (a list of specs and of tables of roles to specs),
`seeds` ("0:500" or a list) and a table `set` of values or lists of values by parameter, such as
`"policy.target" = [20, 24, 28]`. A table `design` plays points instead of all combinations: it has
the fields of `DesignSpec`, and `set` may then hold ranges such as "1e6:5e6".
"""

import itertools
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from desim.catalog.policy_spec import read_policies
from desim.engine.grid import grid
from desim.errors import SchemaError, UsageError
from desim.rows.groups import reference_groups
from desim.rows.rows import Rows, policy_label
from desim.schema import from_plain
from desim.show.files import read_text
from desim.studies.designs import DesignSpec, planned
from desim.studies.effects import Effects, effects
from desim.studies.options import FIRST_SEEDS

#: Most bytes of the file of a sweep.
_MAX_BYTES = 1_000_000

#: Joins the roles of one way to play; does not match the + of the number 1e+5.
_PLUS = re.compile(r"\+(?=[a-zA-Z_][\w.]*=)")

#: A policy as text, or a mapping of roles to such texts.
_Policies = str | dict[str, str]


@frozen
class SweepSpec:
    """A sweep as plain data.

    Attributes:
        model: A name, or `module:Class`.
        preset: Empty means the first.
        policies: Specs, or mappings of roles to specs; each is one way to play.
        seeds: "A:B" without B, "A,B,...", or the numbers themselves.
        set: A value or a list of values by parameter, or by `policy.` and an argument; with a
            design also ranges.
        design: Points to play instead of all combinations.
    """

    model: str
    preset: str = ""
    policies: list[str | dict[str, str]] = field(factory=list)
    seeds: str | list[int] = ""
    set: dict[str, Any] = field(factory=dict)
    design: DesignSpec | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `sweep`, `compare` and `select`."""
        return {
            "model": self.model,
            "policies": list(self.policies) or ["greedy"],
            "seeds": read_seeds(self.seeds) if isinstance(self.seeds, str) else self.seeds,
            "preset": self.preset,
            "set": self.set,
        }

    @property
    def analysed(self) -> bool:
        """Whether the design is a factorial one, whose rows show effects."""
        return self.design is not None and self.design.kind == "factorial"

    def effects(self, rows: Rows, show: Sequence[str]) -> Effects | None:
        """Return the effects that the sweep's rows show; None if it has no factorial design."""
        if self.design is None or not self.analysed:
            return None
        return effects(rows, planned(self.design, self.set)[0], show=show)

    def check_reference(self, against: str) -> None:
        """Refuse a policy to compare with that is not played, before anything is played.

        Raises:
            UsageError: It is no policy of the sweep, and no model, preset or parameter's value.
        """
        how = self.arguments
        cells = grid(how["model"], how["policies"], [0], self.preset, self.set).cells
        others = {one for cell in cells for one in (cell.name, cell.preset)}
        others |= {str(value) for cell in cells for value in cell.params.values()}
        if against not in others:
            labels = dict.fromkeys((cell.entry.label,) for cell in cells)
            reference_groups([*labels], ("policy",), policy_label(against))

    def refuse_design(self) -> None:
        """Refuse a goal for a design.

        Raises:
            UsageError: The sweep has a design, which is played as a whole.
        """
        if self.design is not None:
            raise UsageError(
                f"the design {self.design.kind} is played as a whole; leave out --design, or "
                "--until and --select"
            )


def read_config(
    model: str,
    preset: str,
    set: Mapping[str, str],  # noqa: A002 (the word of the command line)
    specs: Sequence[str],
    seeds: str,
    design: str = "",
) -> SweepSpec:
    """Return the sweep that options describe; they take precedence over a TOML file.

    Args:
        model: A model's name, or the path of a file that ends in .toml.
        preset: Empty if not given.
        set: Texts `V` or `V1,V2,...` by parameter.
        specs: The texts of `--policy`; see `read_entries`.
        seeds: See `read_seeds`; empty if not given.
        design: See `DesignSpec.read`; empty if not given.

    Raises:
        UsageError: The file cannot be read or holds no sweep, or the policies are wrong.
    """
    spec = _from_file(Path(model)) if model.endswith(".toml") else SweepSpec(model)
    values = {key: _values(text) for key, text in set.items()}
    return evolve(
        spec,
        preset=preset or spec.preset,
        policies=read_entries(specs) or spec.policies,
        seeds=seeds or spec.seeds,
        set={**spec.set, **values},
        design=DesignSpec.read(design) if design else spec.design,
    )


def read_entries(texts: Sequence[str]) -> list[_Policies]:
    """Return the ways to play that several `--policy` texts describe.

    Texts that name different roles are one way to play, like those of `desim run`. Texts that name
    the same role, or no role, are several ways to play. `+` joins the roles of one way within a
    text.

    >>> read_entries(["base_stock,target=20", "greedy"])
    ['base_stock,target=20', 'greedy']
    >>> read_entries(["retailer=base_stock", "factory=greedy"])
    [{'retailer': 'base_stock', 'factory': 'greedy'}]
    >>> read_entries(["retailer=base_stock", "retailer=greedy+factory=greedy"])
    [{'retailer': 'base_stock'}, {'retailer': 'greedy', 'factory': 'greedy'}]

    Raises:
        UsageError: A text is wrong, or it is not clear which texts belong together.
    """
    policies: list[_Policies] = [read_policies(_PLUS.split(text)) for text in texts]
    roles = [one for one in policies if isinstance(one, dict)]
    if not any(a.keys().isdisjoint(b) for a, b in itertools.combinations(roles, 2)):
        return policies
    if len(roles) < len(policies) or sum(map(len, roles)) > len(set().union(*roles)):
        given = " ".join(f"--policy {text}" for text in texts)
        joined = "+".join(f"{role}=SPEC" for role in dict.fromkeys(itertools.chain(*roles)))
        raise UsageError(
            f"{given} may be read as one way to play or as several; join the roles of each way "
            f"with +, as in --policy {joined}, or list the ways in a TOML file"
        )
    return [{role: spec for one in roles for role, spec in one.items()}]


def read_seeds(text: str) -> Sequence[int]:
    """Return the seeds of `A:B` (without B) or `A,B,...`; an empty text means 0:20.

    Raises:
        UsageError: The text has neither form, or A is not below B.
    """
    if not text:
        return range(FIRST_SEEDS)
    start, colon, stop = text.partition(":")
    try:
        seeds = range(int(start), int(stop)) if colon else [int(n) for n in text.split(",")]
    except ValueError:
        raise UsageError(f"seeds {text!r} were given; write A:B (without B) or A,B,...") from None
    if not seeds:
        raise UsageError(f"seeds {text!r} were given; in A:B, A is below B")
    return seeds


def _from_file(path: Path) -> SweepSpec:
    try:
        plain = tomllib.loads(read_text(path, _MAX_BYTES))
        spec: SweepSpec = from_plain(plain, SweepSpec)
    except OSError as fault:
        raise UsageError(f"cannot read {path}: {fault.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, SchemaError, RecursionError) as fault:
        raise UsageError(f"{path} describes no sweep: {fault}") from None
    return spec


def _values(text: str) -> str | list[str]:
    """Split V1,V2,... into texts; a JSON list or object is one value."""
    return text if text[:1] in {"[", "{"} or "," not in text else text.split(",")
