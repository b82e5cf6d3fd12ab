"""torch.special: the operators whose names begin with special_."""

from torchjit._namespace import serve

serve(__name__, "aten::special_")
