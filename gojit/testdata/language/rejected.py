def f(x):
    return y  # ERROR "undefined value y"


def f(x: int):
    if x > 0:
        y = 1
    else:
        y = "a"
    return y  # ERROR "Type mismatch: y is set to type int in the true branch and type str in the false branch"


def f(x: int):
    if x > 0:
        y = 1
    return y  # ERROR "y is not defined in the false branch"


def f(x: int) -> str:
    return x  # ERROR "Return value was annotated as having type str but is actually of type int"


def f(x: Tuple[int, int]):
    a, b, c = x  # ERROR "need 3 values to unpack but found only 2"
    return a


def f(x: int):
    return x.nothing  # ERROR "'int' object has no attribute or method 'nothing'"


def f(x):
    return torch.nothing(x)  # ERROR "Unknown builtin op: aten::nothing"


def f(x: str):
    return torch.relu(x)  # ERROR "Expected a value of type 'Tensor' for argument 'self' but instead found type 'str'"


def f(x: int):
    for i in x:  # ERROR "'int' object is not iterable"
        pass


def f(x: int):
    while x:
        x = "a"  # ERROR "Variable 'x' previously had type int but is now being assigned to a value of type str"
    return x


def f(x: Optional[int]):
    return x + 1  # ERROR "Arguments for call are not valid"


def f(x: List[int]):
    x.append("a")  # ERROR "Could not match type"


def f(x: int) -> List[int]:
    return [1.5]  # ERROR "did not match the types of the given list elements, which were unified to float"


def f(x: Nonsense):  # ERROR "Unknown type name 'Nonsense'"
    return x


def f(x: int):
    break  # ERROR "loop"
