"""The scripts import their neighbours by plain names, as they do when they are run."""

import sys

from support.paths import ROOT

sys.path[:0] = [str(ROOT / "experiments"), str(ROOT / "experiments" / "papers")]
