"""What a question says about the form of its answer: reference SPEC section 3.

As published, tagging and formula value have none: the context of their items states the form.
"""

from collections.abc import Mapping

__all__ = ["INSTRUCTIONS"]

#: The instruction of each category.
INSTRUCTIONS: Mapping[str, str] = {
    "program_synthesis": (
        "Write a Python program in a fence of three backticks; the value of its last line is the "
        "number that is asked for. Write that number behind it as [[number]]."
    ),
    "quantity_extraction": "Copy the quantity from the context and write [[quantity]] alone.",
    "multiple_choice": "Write the letter of the right option as [[letter]].",
    "formula_completion": (
        "Write the body of the function, without its signature, in a fence of three backticks."
    ),
    "tagging": "",
    "formula_value": "",
}
