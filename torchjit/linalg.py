"""torch.linalg: the operators whose names begin with linalg_."""

from torchjit import _native
from torchjit._namespace import serve


class LinAlgError(RuntimeError):
    """A matrix has no inverse, or a decomposition does not exist or was not found."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"
LinAlgError.__module__ = "torchjit._C"
_native.register_exception("_LinAlgError", LinAlgError)

serve(__name__, "aten::linalg_")
