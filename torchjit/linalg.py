"""torch.linalg: the operators whose names begin with linalg_."""

from torchjit._namespace import serve

serve(__name__, "aten::linalg_")
