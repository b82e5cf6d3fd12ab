"""What back ends are there: the names that programs read."""

from torchjit._jit_internal import Namespace


class _Backend(Namespace):
    """A back end of PyTorch's that is not here."""

    enabled = True
    benchmark = False
    deterministic = False

    @staticmethod
    def is_available() -> bool:
        return False


cudnn = _Backend()
mkldnn = _Backend()
