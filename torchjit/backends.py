"""What back ends are there; only names that programs read."""


class _Backend:
    enabled = True
    benchmark = False
    deterministic = False

    @staticmethod
    def is_available() -> bool:
        return False


class cudnn(_Backend):
    """The library of CUDA kernels that PyTorch has."""


class mkldnn(_Backend):
    """The library of CPU kernels that PyTorch has."""
