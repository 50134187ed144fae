"""What the roles of a case interview are asked for beside their rules, in our own wording."""

__all__ = ["FIRST_TURN", "FORMS", "STOCK"]

#: The candidate's message where a reply holds none.
STOCK = "Let me go back to the structure for a moment: which part of the problem matters most here?"

FIRST_TURN = (
    "This is the first turn: introduce the case, ask for objective and structure, and do not end."
)

#: How each role answers.
FORMS = {
    "interviewer": "Answer with the message alone, as plain text.",
    "candidate": 'Answer with one JSON object: {"reply": "what you say to the interviewer"}.',
    "judge": (
        'Answer with one JSON object: {"structure": number, "quant": number, "business_sense": '
        'number, "communication": number, "overall": number, "feedback": "two or three sentences"}.'
    ),
}
