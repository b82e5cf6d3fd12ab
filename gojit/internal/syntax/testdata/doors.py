import torch
from typing import *
def f(x, y: int = 3, *, z: Optional[List[int]]) -> Tuple[int, str]:
    """doc"""
    a: int = 4
    a += 1
    b, c = x
    (d, e) = x
    x[0] = 1
    x[1:2, None, ...] = 3.5
    x.foo = -1
    s = 'a\n"b' "cd"
    u = f"x{a}y{s}"
    if a < b < c and not a or b:
        pass
    elif a is not b:
        return 1, s
    else:
        del x
    for i, j in zip(range(3), x):
        break
    while True:
        continue
    with torch.no_grad() as q, u:
        assert a, "msg"
    raise ValueError("x")
    g = [k for k in range(3)]
    h = {k: v for k, v in d.items()}
    l = {1: 2, 3: 4}
    m = a if b else c
    n = a not in b
    o = foo(1, *x, k=3)
    p = ~a ** 2 // 3 % 4 @ 4 << 3 >> 3 & 1 | 3 ^ 4
    q = x[..., 1]
    r = x[1:2]
    s = x[:, ::2]
    t = 1j
    t = 1_000
    t = 0x1F
    t = 1e-3
    u = ()
    u = (1,)
    a = b = c
    x.y: int = 3
    a, b = b, a
    v = not a
    print("x")
    foo[1](2).z
    a **= 2
    a %= 2
    a &= 2
    a |= 2
    a ^= 2
    a <<= 2
    a >>= 2
    a /= 2
    a -= 2
    a *= 2
    return


def g(x, /, y=1):
    a == b; a != b; a <= b; a >= b; a > b; a is b; a is None
    x[()]
    Tuple[()]
    x[(1, 2)]
    x[-1]
    x["a"]
    x[1:2][0].foo(3)  .bar
    (a + b) * (c)
    (a), b
    (a + b).foo
    [a, b][0]
    raise ValueError("a") from e
    assert x
    1.
    1e400
    1e16
    123456789012345678901234567890
    1.5e-7j
    f"{{a}}{x}"
    f"plain"
    f"{x}" "b"
    "a" f"{y}"
    'a' r'\n'
    foo(*a, b)
    foo(b, c=1)
    (x for x in y)
    sum(x for x in y)
    [[a for a in b] for b in c]
    [(a, b) for (a, b) in c]
    not (a)
    - (a)
    ((a)).b
    a.b \
      .c
    []
    {}
    {1: a}
    a[b:c, d]
    a[::-1]
    a[b].c[d]
    (a, b)[0]
    (a if b else c).x
    a[b,]
    a = (yy)[0] = 4
    'a\
b'
    print("é", x)
    x.T.foo = 3
    x, y.z = 1, 2
    (x, y), z = 1
    [x, y] = 1
    for x in (y): pass
    for [i, j] in y: pass
    with (a): pass
    return (x)



def numbers():
    0x_ff, 0b101, 0o17, 00, 1_000.5, 1e3, 1E-5, .5, 5., 1e400, 3J, 1.5e20j, 0.1e-6, 123456789123456789123


def strings(x):
    """A docstring
    of two lines."""
    "é" + x, "\u00e9\x41\101\0" if False else r"\n", u"u", 'a' "b" '''c"d''', "tab\t\
joined"
    f"é{x}é{x.y[0]}" f"{{{x}}}" "tail", rf"\{x}"


class Methods:
    def commented(self, a, b=2):
        # type: (int, Optional[int]) -> List[int]
        return [a]  # type: ignore

    @staticmethod
    def decorated(
        a: int,
        *,
        b: "str",
    ) -> None:
        with (a as q, b as r): pass
        with (a), (b): pass
        with (a, b) as c: pass
        with a, b as c,d: pass


def split(a,  # type: int
          b=1,  # type: str
          ):
    # type: (...) -> Tuple[int, str]
    while a: a -= 1; continue
    if a: pass
    elif b: return
    else: return a,
    for i, in (a, b): del a[i], b
    return not a in b, a is not b, a not in b == c, -a ** -b, not not a, a if b else c if d else e
