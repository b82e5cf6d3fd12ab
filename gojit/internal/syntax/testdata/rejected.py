def f(x):
    g = lambda y: y  # ERROR "Lambda aren't supported"


def f(x):
    try:  # ERROR "try blocks aren't supported"
        pass
    except Exception:
        pass


def f(x):
    yield x  # ERROR "Yield aren't supported"


def f(x):
    y = yield x  # ERROR "Yield aren't supported"


def f(x):
    if (y := x):  # ERROR "NamedExpr aren't supported"
        pass


def f(x):
    return {1, 2}  # ERROR "Set aren't supported"


def f(x):
    return {a for a in x}  # ERROR "SetComp aren't supported"


def f(*xs):  # ERROR "variable number of arguments"
    pass


def f(x, **kw):  # ERROR "variable number of arguments"
    pass


def f(x):
    class C:  # ERROR "class definitions aren't supported"
        pass


def f(x):
    global y  # ERROR "global variables aren't supported"


def f(x):
    nonlocal y  # ERROR "nonlocal variables aren't supported"


def f(x):
    import math  # ERROR "import statements aren't supported"


def f(x):
    from math import pi  # ERROR "import statements aren't supported"


def f(x):
    for i in x:  # ERROR "else branches of for loops aren't supported"
        pass
    else:
        pass


def f(x):
    while x:  # ERROR "else branches of while loops aren't supported"
        pass
    else:
        pass


async def f(x):  # ERROR "async function definitions aren't supported"
    pass


def f(x):
    async for i in x:  # ERROR "async for loops aren't supported"
        pass


def f(x):
    await x  # ERROR "Await aren't supported"


def f(x):
    return +x  # ERROR "unsupported unary operator"


def f(x):
    x //= 2  # ERROR "unsupported kind of augumented assignment: FloorDiv"


def f(x):
    y: int  # ERROR "annotated assignments without assigned value"


def f(x):
    return [a for a in x if a]  # ERROR "Comprehension ifs are not supported yet"


def f(x):
    return [a for a in x for b in a]  # ERROR "Only a single generator"


def f(x):
    return {**x}  # ERROR "Dict expansion"


def f(x):
    return g(**x)  # ERROR "keyword-arg expansion is not supported"


def f(x):
    return f"{x!r}"  # ERROR "conversion in JoinedStr"


def f(x):
    return f"{x:3}"  # ERROR "formatting in JoinedStr"


def f(x):
    return f"{x"  # ERROR "never closed"


def f(x):
    return f"}"  # ERROR "single '}'"


def f(x):
    return b"x"  # ERROR "bytes literals aren't supported"


def f(x):
    raise  # ERROR "raise without an exception"


def f(x):
    with x as (a, b):  # ERROR "must be a variable"
        pass


def f(x):
    x + 1 = 2  # ERROR "unexpected expression on left-hand side of assignment"


def f(x):
    f(x) += 2  # ERROR "unexpected expression on left-hand side of augmented assignment"


def f(x)
    pass  # ERROR "expected : but found 'indent' here"


def f(x):
    return x +  # ERROR "expected ident but found '(newline|eof)' here"


def f(x):
pass  # ERROR "expected ident but found 'newline' here"


def f(x):
        pass
    pass  # ERROR "invalid indent level 4"


def f(x):
    pass
      pass  # ERROR "expected newline but found 'indent' here"


def f(x):
    return (x]  # ERROR "expected \\) but found '\\]' here"


def f(x):
    return x)  # ERROR "expected newline but found '\\)' here"


def f(x):
    return x y  # ERROR "expected newline but found 'ident' here"


def f(x):
    return 'x  # ERROR "expected a valid token but found"


def f(x):
    return "\x4"  # ERROR "invalid escape sequence"


def f(x):
    return 0x  # ERROR "expected newline but found 'ident' here"


def f(x):
    return 1_  # ERROR "expected newline but found 'ident' here"


def f(x):
    return 3abc  # ERROR "expected newline but found 'ident' here"


def f(x):
    return x ? 1  # ERROR "expected newline but found '?'"


def f(x):
    return x[]  # ERROR "expected ident but found '\\]'"


def f(x):  # ERROR "Number of type annotations \\(2\\) did not match"
    # type: (int, int) -> int
    pass


def f(x):
    # type: (int -> int) # ERROR "expected \\) but found 'arrow' here"
    pass


def f(x):
    y = x  # type: int # ERROR "expected type comment but found 'ident' here"


def f(x):
    return $  # ERROR "expected a valid token but found"
