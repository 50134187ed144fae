"""Language models as policies: any endpoint that speaks OpenAI's chat completions.

`--policy llm,model=NAME,base_url=URL`. Nothing here imports `httpx` before a policy is built.
"""

from pkgutil import extend_path

# A folder policies/llm beside a user's files joins this one, as it does in policies itself: a file
# worlds/NAME.py there serves the user's own world. It is searched before the next import.
__path__ = extend_path(__path__, __name__)

from policies.llm.adapter import Llm

__all__ = ["Llm"]
