"""Shell completion of the names of models and policies.

bash: `eval "$(_DESIM_COMPLETE=bash_source desim)"`; zsh and fish have `zsh_source`, `fish_source`.
"""

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem


def complete_model(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete MODEL."""
    from desim.catalog.imports import folders

    return _starting_with(incomplete, folders("models"))


def complete_model_or_file(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete MODEL or the name of a file."""
    models = complete_model(ctx, parameter, incomplete)
    return [*models, CompletionItem(incomplete, type="file")]


def complete_policy(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a policy of the model on the command line, also after ROLE=."""
    from desim import catalog

    role, equals, _name = incomplete.rpartition("=")
    own = _known(lambda: catalog.policies(_model_class(ctx)))
    return _starting_with(
        incomplete, (f"{role}{equals}{name}" for name in [*own, *catalog.policies()])
    )


def _model_class(ctx: click.Context) -> type:
    """Return the class of the model that was typed."""
    from desim import catalog

    # While an option is incomplete, click leaves the arguments before it unread.
    return catalog.named_class(str(ctx.params.get("model") or next(iter(ctx.args), "")))


def _known(names: Callable[[], Iterable[str]]) -> list[str]:
    """Return names from the catalog; empty if the model that was typed cannot be imported."""
    try:
        return list(names())
    except Exception:  # noqa: BLE001 (a user's module may raise anything; a shell shows no errors)
        return []


def _starting_with(incomplete: str, names: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
