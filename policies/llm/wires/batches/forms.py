"""Which form of batches belongs to which API."""

from policies.llm.wires.batches.batch_form import BatchForm
from policies.llm.wires.batches.message_batches import MessageBatches
from policies.llm.wires.batches.openai_batches import OpenAIBatches
from policies.llm.wires.form import WireForm
from policies.llm.wires.forms.apis import MESSAGES


def batch_form(wire: WireForm) -> BatchForm:
    """Return the form in which the server of an API takes batches."""
    return MessageBatches() if wire.name == MESSAGES else OpenAIBatches()
