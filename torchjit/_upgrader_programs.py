"""What operators that have changed did in archives of older versions, as programs by the names that the map of versions has for them.

Loading does not run them: gojit/internal/frontend/upgrade.go gives old operators their old meaning. They are what torch._C._generate_upgraders_graph shows.
"""

from __future__ import annotations

_FACTORY = "dtype: Optional[int], layout: Optional[int], device: Optional[Device], pin_memory: Optional[bool]"
_GIVEN = "dtype=dtype, layout=layout, device=device, pin_memory=pin_memory"
_NUMBER = "Union[int, float, complex]"


def _division(name: str, other: str, is_float: str, suffix: str = "") -> str:
    """A division that drops the fraction of integers."""
    return f"""
def {name}(self: Tensor, other: {other}) -> Tensor:
  if (self.is_floating_point() or {is_float}):
    return self.true_divide{suffix}(other)
  return self.divide{suffix}(other, rounding_mode='trunc')
"""


def _division_with_mode(name: str, other: str, suffix: str = "") -> str:
    return f"""
def {name}(self: Tensor, other: {other}, *, rounding_mode: Optional[str]=None) -> Tensor:
  return self.divide{suffix}(other, rounding_mode=rounding_mode)
"""


def _steps(name: str, kind: str, more: str = "", passed: str = "") -> str:
    """A range whose number of steps may be left out."""
    return f"""
def {name}(start: {_NUMBER}, end: {_NUMBER}, steps: Optional[int]{more}, *,
    {_FACTORY}) -> Tensor:
  if (steps is None):
    return torch.{kind}(start=start, end=end, steps=100{passed}, {_GIVEN})
  return torch.{kind}(start=start, end=end, steps=steps{passed}, {_GIVEN})
"""


def _steps_out(name: str, kind: str, more: str = "", passed: str = "") -> str:
    return f"""
def {name}(start: {_NUMBER}, end: {_NUMBER}, steps: Optional[int]{more}, *, out: Tensor) -> Tensor:
  if (steps is None):
    return torch.{kind}(start=start, end=end, steps=100{passed}, out=out)
  return torch.{kind}(start=start, end=end, steps=steps{passed}, out=out)
"""


PROGRAMS = {
    "div_Tensor_0_3": _division("div_Tensor_0_3", "Tensor", "other.is_floating_point()"),
    "div_Scalar_0_3": _division("div_Scalar_0_3", "number", "isinstance(other, float)"),
    "div__Tensor_0_3": _division("div__Tensor_0_3", "Tensor", "other.is_floating_point()", "_"),
    "div__Scalar_0_3": _division("div__Scalar_0_3", "number", "isinstance(other, float)", "_"),
    "div_out_0_3": """
def div_out_0_3(self: Tensor, other: Tensor, *, out: Tensor) -> Tensor:
  if (self.is_floating_point() or other.is_floating_point() or out.is_floating_point()):
    return self.true_divide(other, out=out)
  return self.divide(other, rounding_mode='trunc', out=out)
""",
    "div_Tensor_mode_0_3": _division_with_mode("div_Tensor_mode_0_3", "Tensor"),
    "div_Scalar_mode_0_3": _division_with_mode("div_Scalar_mode_0_3", "number"),
    "div__Tensor_mode_0_3": _division_with_mode("div__Tensor_mode_0_3", "Tensor", "_"),
    "div__Scalar_mode_0_3": _division_with_mode("div__Scalar_mode_0_3", "number", "_"),
    "div_out_mode_0_3": """
def div_out_mode_0_3(self: Tensor, other: Tensor, *, rounding_mode: Optional[str]=None, out: Tensor) -> Tensor:
  return self.divide(other, rounding_mode=rounding_mode, out=out)
""",
    "full_0_4": f"""
def full_0_4(size: List[int], fill_value: number, *,
             {_FACTORY}) -> Tensor:

  if dtype is None:
    fill_value = float(fill_value)
  return torch.full(size, fill_value, {_GIVEN})
""",
    "full_names_0_4": f"""
def full_names_0_4(size: List[int], fill_value: number, *, names: Optional[List[str]],
                   {_FACTORY}) -> Tensor:

  return torch.full(size, fill_value, names=names, {_GIVEN})
""",
    "full_out_0_4": """
def full_out_0_4(size: List[int], fill_value: number, *, out: Tensor) -> Tensor:
  return torch.full(size, fill_value, out=out)
""",
    "gelu_0_9": """
def gelu_0_9(self: Tensor) -> Tensor:
  return torch.gelu(self, approximate='none')
""",
    "gelu_out_0_9": """
def gelu_out_0_9(self: Tensor, *, out: Tensor) -> Tensor:
  return torch.gelu(self, approximate='none', out=out)
""",
    "linspace_0_7": _steps("linspace_0_7", "linspace"),
    "linspace_out_0_7": _steps_out("linspace_out_0_7", "linspace"),
    "logspace_0_8": _steps("logspace_0_8", "logspace", ", base: float", ", base=base"),
    "logspace_out_0_8": _steps_out("logspace_out_0_8", "logspace", ", base: float", ", base=base"),
}
