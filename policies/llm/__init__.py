"""Language models as policies: any endpoint that speaks OpenAI's chat completions.

`--policy llm,model=NAME,base_url=URL`. Nothing here imports `openai` before the first call.
"""

from policies.llm.adapter import Llm

__all__ = ["Llm"]
