"""Stands for modules that a package leaves out. This file goes into packages, so it needs nothing."""

_METHODS = """
__call__ __getattr__ __setattr__ __delattr__ __getitem__ __setitem__ __delitem__ __len__ __iter__ __next__ __contains__ __reversed__ __enter__ __exit__
__add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__ __imul__ __matmul__ __rmatmul__ __imatmul__ __truediv__ __rtruediv__ __itruediv__
__floordiv__ __rfloordiv__ __ifloordiv__ __mod__ __rmod__ __imod__ __divmod__ __rdivmod__ __pow__ __rpow__ __ipow__ __lshift__ __rlshift__ __ilshift__
__rshift__ __rrshift__ __irshift__ __and__ __rand__ __iand__ __or__ __ror__ __ior__ __xor__ __rxor__ __ixor__ __neg__ __pos__ __abs__ __invert__
__bool__ __int__ __float__ __complex__ __index__ __round__ __trunc__ __floor__ __ceil__ __bytes__ __format__ __dir__ __await__ __aiter__ __anext__
__lt__ __le__ __gt__ __ge__
"""


def _refusal(method):
    def refuse(self, *args, **kwargs):
        name = object.__getattribute__(self, "_name")
        raise NotImplementedError(f"Object '{name}' was mocked out during packaging but it is being used in {method}")

    return refuse


class MockedObject:
    """Something of a module that a package leaves out. Whatever uses it raises NotImplementedError."""

    def __new__(cls, *args, **kwargs):
        if not kwargs.get("_suppress_err"):
            raise NotImplementedError(f"Object '{cls.__name__}' was mocked out during packaging but it is being used in __new__")
        return super().__new__(cls)

    def __init__(self, name, _suppress_err):
        self.__dict__["_name"] = name

    def __repr__(self):
        return f"MockedObject({self.__dict__['_name']})"


for _method in _METHODS.split():
    setattr(MockedObject, _method, _refusal(_method))
