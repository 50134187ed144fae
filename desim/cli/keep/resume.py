"""`desim resume`: play an interrupted episode to its end."""

from attrs import evolve

from desim.cli.exit_codes import warnings_as_sentences
from desim.cli.options import PrintOptions, Spending
from desim.cli.options import command as command_of
from desim.episodes.resume import ResumeOptions, resume
from desim.errors import PolicyWarning
from desim.schema.signatures import given


@command_of("resume", without=["keep_steps", "keep_state", "series"])
def command(options: ResumeOptions, spending: Spending, printed: PrintOptions) -> None:
    """Play an interrupted record to its end, in the same file.

    Replies on record are used again, so that no paid call is made twice. Whatever would import a
    module, open a file or contact a host is refused, unless it is given again or trusted. A trace
    holds the whole episode, and says from when on it was resumed.
    """
    from desim.cli.tables import print_episode, print_traced

    with spending.limited(), warnings_as_sentences(PolicyWarning):
        episode = resume(**given(evolve(options, keep_steps=False)))
    print_episode(episode, as_json=printed.as_json)
    print_traced(options.trace, as_json=printed.as_json)
