"""The forms by the names that the option `api` takes."""

from policies.llm.wires.form import WireForm
from policies.llm.wires.forms.chat_completions import ChatCompletions
from policies.llm.wires.forms.messages import VERSION, Messages
from policies.llm.wires.forms.responses import Responses

CHAT, RESPONSES, MESSAGES = "chat", "responses", "messages"

#: The names of the forms.
APIS = (CHAT, RESPONSES, MESSAGES)


def form_of(api: str, version: str = "") -> WireForm:
    """Return the form of an API.

    Args:
        api: One of `APIS`.
        version: The version of Messages; empty for the newest that is known here.
    """
    match api:
        case "responses":
            return Responses()
        case "messages":
            return Messages(version or VERSION)
        case _:
            return ChatCompletions()
