"""Where the project, its tests and the reference data are."""

import os
from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent

#: For programs started by tests: the project, and the helpers as `support.NAME`.
PYTHONPATH = os.pathsep.join(map(str, (ROOT, TESTS)))

REFERENCE = Path(os.environ.get("DESIM_REFERENCE") or ROOT / ".." / "shared" / "reference")
