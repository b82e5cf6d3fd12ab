"""torch.utils: exchange of tensors with other libraries."""

from torchjit.utils import dlpack as dlpack
