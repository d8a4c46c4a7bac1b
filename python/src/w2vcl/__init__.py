"""Trains word vectors with the program w2vcl, which comes in this package, and reads its runs.

    import w2vcl
    run = w2vcl.train("wiki.txt", dim=300)
    run["paris"], run.neighbors("paris"), run.keyed_vectors, run.metrics

The program does the work, as a process of its own. Every keyword argument that a function
does not name is a setting of the program: ``min_count=50`` is ``--min-count 50``. The program
checks them, and its message is the exception's.
"""

from importlib.metadata import version as _version

from ._compare import Comparison, compare
from ._corpus import Corpus
from ._program import Error, UsageError, command, version
from ._progress import Progress
from ._run import Interrupted, Run, Vectors, demo, evaluate, load, plan, train
from ._vectors import UnseenWord

__version__ = _version("w2vcl")

__all__ = [
    "Comparison", "Corpus", "Error", "Interrupted", "Progress", "Run", "UnseenWord", "UsageError", "Vectors",
    "command", "compare", "demo", "evaluate", "load", "plan", "train", "version",
]
