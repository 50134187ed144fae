"""The actions of the analyst: an answer, or a reply that holds one."""

from attrs import field, frozen

from desim.schema.validators import long_text


@frozen
class Answer:
    """Give the answer to the question and nothing else, in the form that the instruction names.

    Attributes:
        text: The answer alone: no explanation before or after it; at most 100,000 characters.
    """

    text: str = field(validator=long_text)


@frozen
class Reply:
    """Give a whole reply, such as a language model's, from which the answer is extracted.

    Extraction looks for the field final_answer of a JSON object, then for "Finish[...]", then for
    "The final answer is ..."; a reply that has none of these has no answer.

    Attributes:
        text: The reply with its reasoning and its answer; at most 100,000 characters.
    """

    text: str = field(validator=long_text)


Command = Answer | Reply
