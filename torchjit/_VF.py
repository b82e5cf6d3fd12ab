"""torch._VF: the operators without what torch.functional puts around them."""

from torchjit._namespace import serve

serve(__name__, "aten::")
