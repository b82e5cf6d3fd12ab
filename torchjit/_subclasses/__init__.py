"""Classes of tensors that run operators in ways of their own."""

from torchjit._subclasses.fake_tensor import DynamicOutputShapeException as DynamicOutputShapeException
from torchjit._subclasses.fake_tensor import FakeTensor as FakeTensor
from torchjit._subclasses.fake_tensor import FakeTensorMode as FakeTensorMode
from torchjit._subclasses.fake_tensor import UnsupportedFakeTensorException as UnsupportedFakeTensorException

__all__ = ["FakeTensor", "FakeTensorMode", "UnsupportedFakeTensorException", "DynamicOutputShapeException"]
