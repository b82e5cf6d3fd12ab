"""torch.utils: exchange of tensors with other libraries."""

from torchjit.utils import checkpoint as checkpoint
from torchjit.utils import dlpack as dlpack
from torchjit.utils import hooks as hooks
