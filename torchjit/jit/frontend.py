"""The errors of the Python front end, under the name that PyTorch has for them."""

from torchjit import _native
from torchjit.frontend import (
    FrontendError as FrontendError,
)
from torchjit.frontend import (
    FrontendTypeError as FrontendTypeError,
)
from torchjit.frontend import (
    NotSupportedError as NotSupportedError,
)
from torchjit.frontend import (
    SourceRange as SourceRange,
)
from torchjit.frontend import (
    UnsupportedNodeError as UnsupportedNodeError,
)
from torchjit.frontend import (
    get_class_properties as get_class_properties,
)
from torchjit.frontend import (
    get_default_args as get_default_args,
)
from torchjit.frontend import (
    get_jit_class_def as get_jit_class_def,
)
from torchjit.frontend import (
    get_jit_def as get_jit_def,
)


def _from_text(cls: type) -> type:
    """A class for errors that come from the library with their text complete."""

    class Reported(cls):
        def __init__(self, message: str) -> None:
            Exception.__init__(self, message)

    Reported.__name__, Reported.__qualname__, Reported.__module__ = cls.__name__, cls.__qualname__, cls.__module__
    return Reported


_native.register_exception("FrontendError", _from_text(FrontendError))
_native.register_exception("NotSupportedError", _from_text(NotSupportedError))
