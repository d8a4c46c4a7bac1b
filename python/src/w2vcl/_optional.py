"""Modules that the package does without until something of theirs is asked for."""

import importlib
from typing import Any


def needed(module: str) -> Any:
    """Imports a module, or says how to install it."""
    name = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ModuleNotFoundError(f"this needs {name}: pip install {name}, or 'w2vcl[all]'", name=name) from None
