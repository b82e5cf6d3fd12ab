"""The former place of torch.nn.utils.stateless."""

from torchjit.nn.utils.stateless import functional_call as functional_call
