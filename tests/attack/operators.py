"""Calls every operator with arguments of every kind: samples with some arguments changed, and arguments made from the schema alone.

A case is one call and what is checked of it: it is not an internal error, arguments that the schema does not write keep their memory, the results can be
used, the same call gives the same again (with another number of threads, too), and contiguous copies of the arguments give the same results.
"""

from __future__ import annotations

import contextlib
import functools
import io
import math
import os
import pathlib
import random
import re
import warnings

import torchjit as torch

SAMPLES = pathlib.Path(__file__).parent / "samples.txt"

FLOATS = ["float32", "float64", "float16", "bfloat16"]
INTEGERS = ["int64", "int32", "int16", "int8", "uint8"]
COMPLEX = ["complex64", "complex128"]
DTYPES = [*FLOATS, *INTEGERS, *COMPLEX, "bool"]
SIZES = [0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 17, 64, 300]
MOST_ELEMENTS = 20_000
HUGE = [2**36, 2**40, 2**61, 2**62, 2**63 - 1, -(2**31), -(2**36), -(2**62), -(2**63), -(2**63) + 1]
LAYOUTS = ["plain", "plain", "plain", "transposed", "step", "offset", "expanded", "overlapping", "last", "conj", "requires"]
FILLINGS = ["normal", "normal", "normal", "positive", "zeros", "ones", "special", "large", "tiny", "negative"]

# Operators that would end or block the process, read or write files, or change the state of the process for what follows.
EXCLUDED = re.compile(
    r"^(aten::(from_file|save|sleep|_backward|wait|manual_seed|seed|dist_backward|warn|set_grad_enabled|_?cuda.*|.*cudnn.*|.*miopen.*|is_owner)"
    r"|prim::(Print|print|rpc.*|fork|awaitable.*|BroadcastSizes|RaiseException|is_cuda|_?cuda.*|.*Guard.*|Timed.*)|c10d::.*|profiler::.*|nvprims::.*|static_runtime::.*|_test::.*"
    r"|.*autocast.*|cuda::.*)"
)
# Operators that write arguments of which their schemas do not say so, as PyTorch's do: running means, what observers keep, slopes.
ALSO_WRITES = re.compile(r"batch_norm|instance_norm|moving_avg|renorm_$|rrelu_with_noise|_foreach_.*_$")
# Results that are not decided by the arguments: memory that nobody has written, and addresses.
UNDECIDED = re.compile(r"(^|_)empty|data_ptr|resize|_unsafe_view_dtype|new_empty|memory_usage|hash|id$|_version|_cast_.*|^set_|sparse_resize|^prims::(empty|uniform)|storage")
# Operators whose results depend on strides, or are decided up to a sign or an order.
LAYOUT_DEPENDENT = re.compile(
    r"stride|contiguous|storage|view|linalg|svd|qr|eig|inverse|lu|lstsq|cholesky|triangular|matrix|ldl|solve|is_|_like|det|pinverse|rand|normal|uniform|bernoulli|dropout|"
    r"multinomial|poisson|exponential|geometric|cauchy|binomial|gamma|dirichlet|rrelu|sort|topk|mode|median|unique|set_|shares|alias|data|empty|nonfinite|kthvalue|argm|max|min|"
    r"prims|quanti|layout|format|fft|stft|fractional|conj|resolve|_neg|nested|sparse|resize|lobpcg|hash|orgqr|ormqr|householder|sobol"
)

# What arguments of these names take, as texts.
WORDS = {
    "dtype": [f"torch.{d}" for d in [*DTYPES, "quint8", "qint8", "qint32"]], "output_dtype": ["torch.float32", "torch.quint8"], "layout": ["torch.strided", "torch.sparse_coo", "torch.sparse_csr"],
    "memory_format": ["torch.contiguous_format", "torch.channels_last", "torch.preserve_format", "torch.channels_last_3d"],
    "device": ["torch.device('cpu')"] * 6 + ["torch.device('meta')", "'cuda:7'"], "rounding_mode": ["'trunc'", "'floor'", "None", "'up'"], "reduction": ["0", "1", "2", "3", "-1"],
    "reduce": ["'sum'", "'prod'", "'mean'", "'amax'", "'amin'", "'add'", "'multiply'", "'max'", "'min'"], "approximate": ["'none'", "'tanh'"], "UPLO": ["'U'", "'L'", "'x'"],
    "interpolation": ["'linear'", "'lower'", "'higher'", "'midpoint'", "'nearest'"], "indexing": ["'ij'", "'xy'"], "norm": ["'forward'", "'backward'", "'ortho'", "None"],
    "side": ["'left'", "'right'"], "ord": ["'fro'", "'nuc'", "2", "-2", "float('inf')", "1"], "driver": ["'gels'", "'gelsy'", "'gelsd'", "'gelss'", "None"],
    "mode": ["0", "1", "2", "3", "'reduced'", "'complete'", "'r'", "'replicate'"], "equation": ["'ij,jk->ik'", "'...i,...i'", "'ii'", "'i,j->ij'", "'a'"], "padding_mode": ["0", "1", "2", "3"],
    "interpolation_mode": ["0", "1", "2", "3"], "pad_mode": ["'reflect'", "'constant'", "'replicate'"],
}

made: list[tuple] = []  # of the call that runs: a tensor over the memory of an argument, and a copy of it
plain_arguments = False  # make contiguous copies in the place of all arguments


def numel(shape) -> int:
    n = 1
    for size in shape:
        n *= size
    return n


@functools.lru_cache(maxsize=400)
def pool(dtype: str, filling: str, top: int):
    """Numbers of a kind that arguments take theirs from."""
    r, kind = random.Random(f"{dtype} {filling} {top}"), getattr(torch, dtype)
    if dtype == "bool":
        return torch.tensor([r.random() < {"zeros": 0.0, "ones": 1.0}.get(filling, 0.5) for _ in range(997)])
    if dtype in INTEGERS:
        bits = 63 if dtype == "int64" else int(dtype.lstrip("uint")) - (dtype != "uint8")
        least = 0 if dtype == "uint8" else -(2**bits)
        draw = {
            "zeros": lambda: 0, "ones": lambda: 1, "special": lambda: r.choice([least, 2**bits - 1, -1 if least else 255, 0, 2 ** (bits - 1)]),
            "large": lambda: r.randrange(least, 2**bits), "negative": lambda: r.randint(max(least, -10), 3),
        }.get(filling, lambda: r.randint(0, min(top, 2**bits - 1)))
        return torch.tensor([draw() for _ in range(997)], dtype=kind)
    draw = {
        "zeros": lambda: 0.0, "ones": lambda: 1.0, "positive": lambda: r.random(), "tiny": lambda: r.gauss(0, 1e-30), "large": lambda: r.gauss(0, 1) * 10 ** r.randint(0, 38),
        "special": lambda: r.choice([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0, 1e-40, -2.5]), "negative": lambda: -3 * r.random(),
    }.get(filling, lambda: r.gauss(0, 1))
    if dtype in COMPLEX:
        return torch.tensor([complex(draw(), draw()) for _ in range(997)], dtype=torch.complex128).to(kind)
    return torch.tensor([draw() for _ in range(997)], dtype=torch.float64).to(kind)


def flat(dtype: str, n: int, filling: str, top: int, number: int):
    """n numbers that end where their memory does."""
    numbers = pool(dtype, filling, top)
    number %= 97
    if n + number > len(numbers):
        numbers = numbers.repeat((n + number) // len(numbers) + 1)
    return numbers[number : number + n].clone()


def tensor(dtype: str, shape: tuple, layout: str = "plain", filling: str = "normal", number: int = 0, top: int = 9):
    """An argument: its last element is the last one of its memory, but in a layout where that is the point."""
    if dtype.startswith("q"):
        return quantized(dtype, shape, layout, number)
    dims = len(shape)
    n = numel(shape)
    strides = [numel(shape[i + 1 :]) for i in range(dims)]
    offset = 0
    if layout == "transposed":
        strides = [numel(shape[:i]) for i in range(dims)]
    elif layout == "step":
        strides = [2 * s for s in strides]
    elif layout == "offset":
        offset = 3
    elif layout == "expanded":
        strides = [0 if (number >> i) & 1 else s for i, s in enumerate(strides)]
    elif layout == "overlapping":
        strides = [1] * dims
    elif layout == "last" and dims >= 3:  # channels vary fastest
        order = [1, *reversed(range(2, dims)), 0]
        step = 1
        for d in order:
            strides[d], step = step, step * max(shape[d], 1)
    span = 0 if n == 0 else offset + 1 + sum((size - 1) * s for size, s in zip(shape, strides, strict=True))
    memory = flat(dtype, span, filling, top, number)
    made.append((memory, memory.clone()))
    t = memory.as_strided(shape, strides, min(offset, span))
    if layout == "conj" and dtype in COMPLEX:
        t = t.conj()
    if plain_arguments:
        t = t.clone(memory_format=torch.contiguous_format).resolve_conj()
    if layout == "requires" and dtype in [*FLOATS, *COMPLEX]:
        t.requires_grad_()
    return t


def quantized(dtype: str, shape: tuple, layout: str, number: int):
    integers = tensor({"quint8": "uint8", "qint8": "int8", "qint32": "int32"}[dtype], shape, layout if layout in ("transposed", "last", "step") else "plain", "normal", number, 100)
    if layout == "offset" and shape and shape[0]:
        return torch._make_per_channel_quantized_tensor(integers, torch.rand(shape[0], dtype=torch.float64) + 0.1, torch.zeros(shape[0], dtype=torch.int64), 0)
    return torch._make_per_tensor_quantized_tensor(integers, 0.1, 3)


def sparse(layout: str, dtype: str, shape: tuple, filling: str = "normal", number: int = 0):
    """A matrix, or a tensor of more or fewer dimensions, in a sparse layout."""
    t = tensor(dtype, shape, "plain", filling, number)
    t = t * (tensor("float32", shape, "plain", "normal", number + 1) > 0)
    made.clear()
    if layout == "coo":
        return t.to_sparse()
    if layout == "twice":  # entries that are not added up
        t = t.to_sparse()
        return torch.sparse_coo_tensor(torch.cat([t.indices(), t.indices()], 1), torch.cat([t.values(), t.values()]), shape)
    return {"csr": t.to_sparse_csr, "csc": t.to_sparse_csc}[layout]()


def meta(dtype: str, shape: tuple):
    return torch.empty(shape, dtype=getattr(torch, dtype), device="meta")


@functools.lru_cache(maxsize=100)
def packed(kind: str, inside: int, outside: int):
    """Packed parameters of a quantized operator. They are read only."""
    def weight(*shape):
        return torch.quantize_per_tensor(torch.rand(shape), 0.01, 0, torch.qint8)

    operators, bias = torch.ops.quantized, torch.rand(outside)
    if kind == "linear":
        return operators.linear_prepack(weight(outside, inside), bias)
    if kind == "embedding":
        return operators.embedding_bag_prepack(torch.quantize_per_channel(torch.rand(inside, outside), torch.rand(inside) + 0.1, torch.zeros(inside), 0, torch.quint8))
    n = int(kind[4])
    return getattr(operators, kind + "_prepack")(weight(outside, inside, *[3] * n), bias, [1] * n, [0] * n, [1] * n, 1)


class Written(str):
    """An argument as text."""


class T:
    """A tensor of a sample: the type and shape are what the operator asks for."""

    def __init__(self, dtype, shape, top=9):
        self.dtype, self.shape, self.top = dtype, tuple(shape), top


class Q(T):
    """A quantized one."""


class S:
    """A sparse one."""

    def __init__(self, layout, shape):
        self.layout, self.shape = layout, tuple(shape)


def P(*words):
    return Written(f"packed{words!r}")


@functools.lru_cache(maxsize=1)
def samples() -> dict:
    """Calls that are known to be sensible, by the name of the operator without its overload: overload, arguments, keywords."""
    found: dict = {}
    for line in SAMPLES.read_text().splitlines():
        name, _, arguments = line.partition("(")
        space, name, overload = name.split(".")
        take = eval("lambda *a, **k: (a, k)", {})
        args, keywords = eval(f"take({arguments}", {"take": take, "T": T, "Q": Q, "S": S, "P": P, "torch": torch})
        found.setdefault(f"{space}::{name}", []).append(("" if overload == "default" else overload, args, keywords))
    return found


@functools.lru_cache(maxsize=1)
def targets() -> list:
    """The schemas that are called, with their operators."""
    found = []
    for schema in torch._C._jit_get_all_schemas():
        if EXCLUDED.match(schema.name) or any("Future" in str(a.type) or "RRef" in str(a.type) or "c10d" in str(a.type) for a in schema.arguments):
            continue
        space, name = schema.name.split("::")
        try:
            operator = getattr(getattr(getattr(torch.ops, space), name), schema.overload_name or "default")
        except AttributeError:
            continue
        found.append((schema, operator, [(a.name, str(a.type), a.N, a.alias_info is not None and a.alias_info.is_write) for a in schema.arguments]))
    return found


class Writer:
    """Writes the arguments of one call."""

    def __init__(self, r: random.Random):
        self.r = r
        self.hostility = r.choice([0.02, 0.1, 0.3])
        self.shape = self.any_shape()
        self.dtype = r.choice([*DTYPES, *["float32"] * 6, *["int64"] * 2])
        self.layout = r.choice([None, None, "plain"])
        self.dims = r.choice([1, 2, 2, 3])

    def hostile(self) -> bool:
        return self.r.random() < self.hostility

    def any_shape(self) -> tuple:
        r = self.r
        dims = r.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5])
        sizes: list = []
        for _ in range(dims):
            size = r.choice(SIZES)
            if numel(sizes) * size > MOST_ELEMENTS:
                size = r.choice([1, 2])
            sizes.append(size)
        return tuple(sizes)

    def near(self, shape: tuple) -> tuple:
        """A shape that differs from another a little."""
        r, sizes = self.r, list(shape)
        change = r.randrange(6)
        if change == 0 and sizes:
            sizes.pop(r.randrange(len(sizes)))
        elif change == 1:
            sizes.insert(r.randint(0, len(sizes)), r.choice([1, 1, 2, 0]))
        elif change == 2 and sizes:
            sizes[r.randrange(len(sizes))] = r.choice([0, 1, 1])
        elif change == 3 and sizes:
            sizes[r.randrange(len(sizes))] = r.choice(SIZES)
        elif change == 4 and sizes:
            i = r.randrange(len(sizes))
            sizes[i] = max(0, sizes[i] + r.choice([-1, 1]))
        else:
            sizes = list(self.any_shape())
        return tuple(sizes) if numel(sizes) <= MOST_ELEMENTS else shape

    def tensor(self, dtype: str | None = None, shape: tuple | None = None, top: int = 9) -> str:
        r = self.r
        if shape is None:
            shape = self.shape if r.random() < 0.6 else self.near(self.shape)
        dtype = dtype or (self.dtype if r.random() < 0.85 else r.choice(DTYPES))
        special = r.random()
        if special < 0.01:
            return f"meta({dtype!r}, {shape})"
        if special < 0.03 and not dtype.startswith("q"):
            return f"sparse({r.choice(['coo', 'csr', 'csc', 'twice'])!r}, {dtype!r}, {shape})"
        if special < 0.04:
            dtype = r.choice(["quint8", "qint8", "qint32"])
        layout = self.layout or r.choice(LAYOUTS)
        filling = r.choice(FILLINGS)
        return f"tensor({dtype!r}, {shape}, {layout!r}, {filling!r}, {r.randrange(97)}, {top})"

    def integer(self, name: str) -> str:
        r = self.r
        if name in WORDS and not self.hostile():
            return r.choice(WORDS[name])
        if self.hostile():
            return str(r.choice(HUGE)) if r.random() < 0.6 else r.choice(["0", "-1", "-5", "17", "300", "True", "1.5", "'x'", "None"])
        if name.startswith(("dim", "axis", "start_dim", "end_dim")):
            return str(r.randint(-3, 3))
        return str(r.choice([0, 1, 1, 2, 2, 3, 4, 5, 8, -1, -2]))

    def number(self) -> str:
        r = self.r
        return r.choice(["0", "1", "2", "-1", "0.5", "1.0", "-2.5", "3", "1e-5", "0.1"]) if not self.hostile() else r.choice(
            ["float('nan')", "float('inf')", "-float('inf')", "1e300", "2**62", "-2**63", "1j", "True", "1e-300", "'x'", "2**63", "-1e18"]
        )

    def floating(self) -> str:
        r = self.r
        return r.choice(["0.0", "1.0", "2.0", "0.5", "-1.0", "0.1", "1e-5", "3.0"]) if not self.hostile() else r.choice(
            ["float('nan')", "float('inf')", "-float('inf')", "1e300", "-1e18", "1e18", "5e-324", "2**62", "'x'"]
        )

    def integers(self, name: str, n: int | None) -> str:
        r = self.r
        length = n or r.choice([self.dims, self.dims, len(self.shape), r.randint(0, 6)])
        if self.hostile():
            length = r.choice([0, 1, length - 1, length + 1, 7, 65])
        if name in ("size", "shape", "output_size", "input_size", "input_sizes", "self_sizes", "sizes", "normalized_shape"):
            sizes = list(self.shape) if r.random() < 0.5 else list(self.near(self.shape))
            if self.hostile() and sizes:
                sizes[r.randrange(len(sizes))] = r.choice([-1, -2, *HUGE])
            return str(sizes[:length] if n else sizes)
        items = [self.integer("dim" if name in ("dim", "dims") else "list") for _ in range(max(0, length))]
        return f"[{', '.join(items)}]"

    def text(self, name: str) -> str:
        if name in WORDS and not self.hostile():
            return self.r.choice(WORDS[name])
        return self.r.choice(["''", "'x'", "'sum'", "'linear'", "'mean'", "'\\0'", "'" + "a" * 300 + "'", "'é€😀'"])

    def of(self, name: str, kind: str, n: int | None) -> str:
        """An argument of a type of schemas."""
        r = self.r
        if kind.startswith("Optional["):
            if r.random() < 0.4:
                return "None"
            kind = kind[9:-1]
        elif r.random() < 0.01:
            return r.choice(["None", "'x'", "[]", "torch", "float('nan')", "[[]]", "-1", "{}", "b''", "object()"])
        if kind == "Tensor":
            if ("ind" in name or "target" in name or "offsets" in name or "lengths" in name) and not self.hostile():
                return self.tensor(r.choice(["int64", "int64", "int32"]), None, r.choice([0, 1, 2, 5, 9]))
            if "mask" in name and not self.hostile():
                return self.tensor("bool")
            return self.tensor()
        if kind == "int":
            return self.integer(name)
        if kind == "float":
            return self.floating()
        if kind == "number":
            return self.number()
        if kind == "bool":
            return r.choice(["True", "False"])
        if kind == "complex":
            return r.choice(["1j", "0j", "complex('nan')", "1+2j"])
        if kind == "str":
            return self.text(name)
        if kind == "Device":
            return r.choice(WORDS["device"])
        if kind == "Generator":
            return r.choice(["None", "None", "torch.Generator()"])
        if kind == "Storage":
            return "torch.ones(3).storage()"
        if kind == "Any":
            return r.choice([self.tensor(), "1", "None", "'x'", "[1, 2]"])
        if kind.startswith("List["):
            return self.list_of(name, kind[5:-1], n)
        if kind.startswith("Dict["):
            return r.choice(["{}", "{1: 2}", "{'a': 1}", "{1.5: torch.ones(2)}"])
        if "PackedParams" in kind:
            for word in ("Linear", "Conv2d", "Conv3d", "Embedding"):
                if word in kind and not self.hostile():
                    return f"packed({word.lower()!r}, {r.choice([2, 3, 8])}, {r.choice([2, 3, 8])})"
            return "packed('linear', 2, 3)"
        if kind in ("t", "t1", "t2", "tVal"):
            return r.choice(["1", "'x'", self.tensor(), "1.5"])
        return "None"

    def list_of(self, name: str, kind: str, n: int | None) -> str:
        r = self.r
        if kind == "int":
            return self.integers(name, n)
        length = n or r.choice([0, 1, 2, 2, 3, 5])
        if n and self.hostile():
            length = r.choice([0, max(0, n - 1), n + 1, 40])
        return f"[{', '.join(self.of(name, kind, None) for _ in range(length))}]"

    def changed(self, sample) -> str:
        """An argument of a sample, nearly as it is."""
        r = self.r
        if isinstance(sample, Written):
            return sample if r.random() < 0.95 else "None"
        if isinstance(sample, S):
            return f"sparse({sample.layout!r}, 'float32', {sample.shape}, number={r.randrange(9)})"
        if isinstance(sample, T):
            shape = self.near(sample.shape) if self.hostile() else sample.shape
            dtype, top = sample.dtype, sample.top
            if isinstance(sample, T) and dtype in FLOATS and self.dtype in [*FLOATS, *COMPLEX] and not isinstance(sample, Q):
                dtype = self.dtype
            if self.hostile():
                dtype = r.choice(DTYPES)
            if self.hostile():
                top = r.choice([0, 1, top + 1, 100, 2**30])
            return self.tensor(dtype, shape, top)
        if isinstance(sample, (list, tuple)):
            items = [self.changed(s) for s in sample]
            if self.hostile():
                change = r.randrange(4)
                items = [] if change == 0 else items[:-1] if change == 1 else [*items, items[-1] if items else "1"] if change == 2 else items * 2
            return f"[{', '.join(items)}]"
        if self.hostile():
            if isinstance(sample, bool):
                return str(not sample)
            if isinstance(sample, int):
                return self.integer("")
            if isinstance(sample, float):
                return self.floating()
            if isinstance(sample, str):
                return self.text("")
        if isinstance(sample, float) and (sample != sample or abs(sample) == float("inf")):
            return f"float('{sample}')"
        return repr(sample)


@functools.lru_cache(maxsize=1)
def arguments_of() -> dict[tuple[str, str], list]:
    """The arguments of a target by its name and overload."""
    return {(schema.name, schema.overload_name): arguments for schema, _, arguments in targets()}


# How many elements an outer product of two arguments may have: larger ones are right, and take all memory and time.
LARGEST = 1 << 25


def outcome(operator, arguments: str, scope: dict):
    """What a call gives: results, or an exception."""
    made.clear()
    torch.manual_seed(1)
    args, keywords = eval(arguments, scope)
    memory = list(made)
    factors = None if operator.name() == "aten::cartesian_prod" else 2
    if math.prod(sorted((max(t.numel(), 1) for t in tensors([args, list(keywords.values())])), reverse=True)[:factors]) > LARGEST:
        return None, RuntimeError("some operators would give gigabytes"), args, keywords, memory
    try:
        return operator(*args, **keywords), None, args, keywords, memory
    except (RuntimeError, TypeError, ValueError, IndexError, KeyError, AttributeError, OverflowError, ArithmeticError, AssertionError, MemoryError) as e:
        return None, e, args, keywords, memory


def tensors(x) -> list:
    if isinstance(x, torch.Tensor):
        return [x.rename(None) if x.has_names() else x]
    if isinstance(x, (list, tuple)):
        return [t for y in x for t in tensors(y)]
    return []


def dense(t) -> bool:
    return t.layout == torch.strided and t.device.type == "cpu" and not t.is_quantized and not t.is_nested


def differ(a, b, close: bool) -> str | None:
    """How results differ from others that should be the same, to the bit or close."""
    a, b = tensors(a), tensors(b)
    if len(a) != len(b):
        return f"{len(a)} tensors and {len(b)}"
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        if x.dtype != y.dtype or x.layout != y.layout or x.shape != y.shape:
            return f"result {i} is {x.dtype} {tuple(x.shape)} and {y.dtype} {tuple(y.shape)}"
        if not dense(x) or not dense(y) or x.numel() > 1_000_000:
            continue
        x, y = x.detach().resolve_conj().contiguous(), y.detach().resolve_conj().contiguous()
        if close and (x.is_floating_point() or x.is_complex()):
            tolerance = {torch.float64: 1e-6, torch.complex128: 1e-6, torch.float32: 2e-3, torch.complex64: 2e-3}.get(x.dtype, 0.06)
            if not torch.allclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True):
                return f"result {i} is {x.flatten()[:4].tolist()} and {y.flatten()[:4].tolist()}"
        elif not torch.equal(bits(x), bits(y)):
            return f"result {i} is {x.flatten()[:4].tolist()} and {y.flatten()[:4].tolist()}"
    return None



def bits(x) -> torch.Tensor:
    """The bytes of a tensor's elements. A tensor of one element may be contiguous with any stride, which view(dtype) refuses."""
    return torch.empty(x.numel(), dtype=x.dtype).copy_(x.reshape(-1)).view(torch.uint8)


def internal(e) -> str | None:
    """What is wrong about an exception: that it speaks of a mistake of the library."""
    text = str(e)
    if text.startswith("kernel: "):
        return f"an error about the library's own code: {text.splitlines()[0]}"
    if "internal error" not in text:
        return None
    lines = text.splitlines()
    places = [line.strip().split(" ")[0] for line in lines if "/gojit/" in line and ".go:" in line and "source/" not in line]
    at = [p.split("/gojit/")[-1] for p in places]
    return f"internal error: {lines[0].split('caused it: ')[-1]} at {' < '.join(at[:3])}"


class Part:
    def __init__(self, seed: int, folder: str):
        self.seed = seed
        self.scope = {name: globals()[name] for name in ("torch", "tensor", "sparse", "meta", "packed")}
        os.chdir(folder)
        warnings.simplefilter("ignore")
        torch.set_num_threads(2)
        self.only = os.environ.get("ATTACK_ONLY")  # a pattern of operators, for those who look for the cause of something
        self.targets = [t for t in targets() if not self.only or re.search(self.only, t[0].name)]

    def case(self, i: int):
        """The schema, its operator, the arguments as text, and what is checked."""
        r = random.Random(f"{self.seed}:{i}")
        schema, operator, arguments = r.choice(self.targets)
        w = Writer(r)
        known = samples().get(schema.name) or samples().get(schema.name.rstrip("_")) if r.random() < 0.7 else None
        texts: dict = {}
        if known:
            overload, args, keywords = r.choice([k for k in known if k[0] == schema.overload_name] or known)
            source = arguments_of().get((schema.name, overload), arguments)
            given = {**{a[0]: x for a, x in zip(source, args, strict=False)}, **keywords}
            texts = {name: w.changed(given[name]) for name, *_ in arguments if name in given}
            dims = next((x.shape for x in args if isinstance(x, T)), None)
            w.shape = dims if dims is not None else w.shape
        written = [name for name, *_, is_written in arguments if is_written]
        writes = "!" in str(schema) or bool(ALSO_WRITES.search(schema.name))
        for name, kind, n, is_written in arguments:
            if name not in texts:
                if is_written and name != "self" and r.random() < 0.4:
                    w.layout = "plain"
                    texts[name] = f"tensor({w.dtype!r}, (0,))"
                else:
                    texts[name] = w.of(name, kind, n)
        if written and w.hostile():  # one tensor for several arguments
            names = [name for name, kind, *_ in arguments if kind in ("Tensor", "Optional[Tensor]")]
            texts[r.choice(names or written)] = texts[written[0]]
        optional = {a.name for a in schema.arguments if a.has_default_value}
        keyword_only = {a.name for a in schema.arguments if a.kwarg_only}
        positional = [texts[name] for name, *_ in arguments if name not in keyword_only]
        named = [f"{name!r}: {texts[name]}" for name, *_ in arguments if name in keyword_only and not (name in optional and r.random() < 0.3)]
        if r.random() < 0.02 and positional:
            positional.pop()
        text = f"([{', '.join(positional)}], {{{', '.join(named)}}})"
        if "polynomial" in schema.name:  # the time it takes is that of the degree
            text = re.sub("'large'|'special'", "'normal'", text).replace("1e300", "30").replace("1e18", "18").replace("2**6", "2**")
        if "one_hot" in schema.name or "repeat_interleave" in schema.name:  # the size of its result is that of its numbers
            text = re.sub(r"'large'|'special'", "'normal'", text).replace(str(2**30), "100")
        check = r.choice(["once", "once", "again", "threads", "plain", "gradient", "use", "unrecorded"])
        return schema, operator, text, check, writes

    def describe(self, i: int) -> str:
        schema, _, text, check, _ = self.case(i)
        space, name = schema.name.split("::")
        return f"from tests.attack.operators import *; args, keywords = {text}; torch.ops.{space}.{name}.{schema.overload_name or 'default'}(*args, **keywords)  # {check}"

    def run(self, i: int) -> str | None:
        global plain_arguments
        schema, operator, text, check, writes = self.case(i)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                wrong = self.check(schema, operator, text, check, writes)
            finally:
                plain_arguments = False
                torch.set_num_threads(2)
                torch.set_grad_enabled(True)
        return wrong and f"{wrong}: {schema.name}.{schema.overload_name or 'default'}"

    def check(self, schema, operator, text: str, check: str, writes: bool) -> str | None:
        global plain_arguments
        try:
            result, failure, args, keywords, memory = outcome(operator, text, self.scope)
        except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError, AssertionError, AttributeError) as e:
            return internal(e)  # no such argument can be made
        if failure is not None and (wrong := internal(failure)):
            return wrong
        if not writes:
            for now, before in memory:
                if now.numel() == before.numel() and not torch.equal(bits(now), bits(before)):
                    return "changed memory: an argument that is not written"
        name = schema.name.split("::")[1]
        undecided = UNDECIDED.search(name) or writes and "'overlapping'" in text  # what is written twice holds either value
        if check in ("again", "threads") and not undecided:
            if check == "threads":
                torch.set_num_threads(1)
            other, other_failure, *_ = outcome(operator, text, self.scope)
            if (failure is None) != (other_failure is None):
                return f"wrong result: fails once and once not ({failure or other_failure})"
            if failure is None and (wrong := differ(result, other, False)):
                return f"wrong result: not the same again, {wrong}"
        elif check == "plain" and failure is None and not writes and not UNDECIDED.search(name) and not LAYOUT_DEPENDENT.search(name) and "float16" not in text and "'special'" not in text \
                and "'large'" not in text and "'tiny'" not in text:
            plain_arguments = True
            other, other_failure, *_ = outcome(operator, text, self.scope)
            if other_failure is None and (wrong := differ(result, other, True)):
                return f"wrong result: other strides, other values, {wrong}"
        elif check == "unrecorded" and failure is None and "'requires'" in text and not undecided:
            with torch.no_grad():
                other, other_failure, *_ = outcome(operator, text, self.scope)
            if other_failure is not None:
                return f"wrong result: fails only where nothing records gradients ({other_failure})"
            if not re.search("'special'|'large'|'tiny'|float16", text) and (wrong := differ(result, other, True)):
                return f"wrong result: another where nothing records gradients, {wrong}"
        elif check == "gradient" and failure is None:
            return self.gradient(result, args, keywords)
        elif check == "use" and failure is None:
            return self.use(result)
        return None

    def gradient(self, result, args, keywords) -> str | None:
        outs = [t for t in tensors(result) if t.requires_grad and dense(t)]
        leaves = [t for t in tensors([args, *keywords.values()]) if t.requires_grad]
        if not outs or not leaves:
            return None
        try:
            seeds = [torch.ones((), dtype=t.dtype).expand(t.shape) for t in outs]
            self.use(torch.autograd.grad(outs, leaves, seeds, allow_unused=True))
        except (RuntimeError, TypeError, ValueError, IndexError) as e:
            return internal(e)
        return None

    def use(self, result) -> str | None:
        for t in tensors(result):
            if t.layout == torch.strided and math.prod(max(n, 1) for n in t.shape) > 1_000_000:  # lists of no elements have a length, too
                continue
            for use in (repr, lambda t: t.sum(), lambda t: t.clone(), lambda t: t + t, lambda t: t.tolist()):
                try:
                    use(t)
                except (RuntimeError, TypeError, ValueError, IndexError, OverflowError, MemoryError) as e:
                    if wrong := internal(e):
                        return f"{wrong} (use of the result)"
        return None
