"""The actions of an interview: a message of either side, and a judge's verdict."""

from collections.abc import Mapping
from typing import ClassVar

from attrs import field, frozen
from attrs.validators import optional

from desim.schema.validators import bounded_number, long_text
from desim.show.column import Column

#: The end token: anywhere in an interviewer's message it ends the interview.
END = "<|CASE_INTERVIEW_END|>"

#: The scores of a verdict, in the order in which the paper lists them.
FIELDS = ("structure", "quant", "business_sense", "communication", "overall")


@frozen
class Say:
    """Say something to the candidate; `<|CASE_INTERVIEW_END|>` in it ends the interview.

    Attributes:
        text: The message, shown to the candidate without the end token. An empty one becomes a
            polite stop, which ends the interview.
    """

    text: str = field(validator=long_text)


@frozen
class Reply:
    """Answer the interviewer.

    Attributes:
        text: The message; may be empty. An end token in it is removed and ends nothing.
    """

    text: str = field(validator=long_text)


@frozen
class Verdict:
    """Judge the candidate; scores are from 0 to 10 and are not clipped.

    Attributes:
        structure: Understanding, clear early structure and adaptation; null: no number was given,
            and the field is left out of the means.
        quant: Asking for, reading and using numbers; null as above.
        business_sense: Drivers, trade-offs, sensible conclusions and risks; null as above.
        communication: Clarity, brevity and interaction; null as above.
        overall: A holistic judgement, which is not the mean of the others; null as above.
        feedback: A few sentences for people.
    """

    #: The rubric's scale (the paper's Table of scores): 0 to 10.
    columns: ClassVar[Mapping[str, Column]] = dict.fromkeys(FIELDS, Column(usual=(0, 10)))

    structure: float | None = field(default=None, validator=optional(bounded_number))
    quant: float | None = field(default=None, validator=optional(bounded_number))
    business_sense: float | None = field(default=None, validator=optional(bounded_number))
    communication: float | None = field(default=None, validator=optional(bounded_number))
    overall: float | None = field(default=None, validator=optional(bounded_number))
    feedback: str = field(default="", validator=long_text)
