"""Types of parameters from example inputs, which PyTorch finds by MonkeyType: not here."""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

_IS_MONKEYTYPE_INSTALLED = importlib.util.find_spec("monkeytype") is not None

# What records the types of calls: there is nothing.
monkeytype_trace = None


def warn_of_example_inputs(example_inputs: Any) -> None:
    """Says that example inputs of torch.jit.script are not looked at."""
    if _IS_MONKEYTYPE_INSTALLED:
        warnings.warn("Warning: torchjit takes no types from example_inputs. Annotate the parameters.", stacklevel=3)
        return
    warnings.warn(
        "Warning: monkeytype is not installed. Please install https://github.com/Instagram/MonkeyType to enable Profile-Directed "
        "Typing in TorchScript. Refer to https://github.com/Instagram/MonkeyType/blob/master/README.rst to install MonkeyType.",
        stacklevel=3,
    )
