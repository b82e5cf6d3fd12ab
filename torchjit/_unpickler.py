"""Pickles of files that nobody vouches for: a machine that makes plain data, and calls what its owner lists.

The machine imports nothing, walks no attributes, and knows the opcodes of the protocols 2 to 5 alone. A name of a pickle means what
the owner's `find` gives for it; REDUCE calls what is a Rule, NEWOBJ makes instances of what is a Rule with a class, and BUILD sets the state of
instances that this pickle has made. What is wrong with a pickle is an UnpicklingError. What a pickle makes is at most as large as the pickle: a
container that is made of another counts its elements, and each element takes a byte.
"""

from __future__ import annotations

import builtins
import collections
import pickle
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

UnpicklingError = pickle.UnpicklingError

# How many values, one in the other, may be the key of a dictionary or an element of a set: hashing looks at all of them.
_MAX_KEY_PARTS = 1000
# What hashing and comparing keys may cost, in characters, parts, and keys with the same hash that are in the same container: so much for each byte of
# the pickle, and so much for any.
_KEY_WORK_OF_BYTE, _KEY_WORK = 64, 1 << 20
_SMALL = 1 << 60  # integers nearer to zero have hashes of their own, but for -1 and -2
_MAX_NAME = 1000  # bytes of the name of a module, or of what is in it
_BLOCK = 1 << 20  # bytes that are read at once
_LONGEST_NUMBER = 5  # bytes of an opcode with a number


class Rule(NamedTuple):
    """What a pickle may do with a name that it has."""

    value: Any  # what the name stands for where it is only mentioned
    call: Callable[..., Any] | None = None  # what REDUCE calls
    new: Callable[..., Any] | None = None  # what NEWOBJ calls
    build: Callable[[Any, Any], None] | None = None  # what BUILD does with an instance and a state
    keys: Callable[[Any], list[Any]] | None = None  # what a call hashes of its first argument


_NOTHING = Rule(None)


class _Named:
    """A name of the pickle on the stack, with what may be done with it."""

    __slots__ = ("rule",)

    def __init__(self, rule: Rule) -> None:
        self.rule = rule


class _Stream:
    """A binary file that is read from where it stands, in blocks and never further than it is long."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._start = file.tell()
        self._length = file.seek(0, 2) - self._start
        file.seek(self._start)
        self._before = 0  # bytes in the blocks before this one
        self._block, self._at = b"", 0

    def done(self) -> int:
        """How many bytes were read."""
        return self._before + self._at

    def left(self) -> int:
        """How many bytes there are still."""
        return self._length - self._before - self._at

    def leave(self) -> None:
        """Has the file stand behind what was read."""
        self._file.seek(self._start + self.done())

    def byte(self) -> int:
        at = self._at
        if at >= len(self._block):
            self._more(1)
            at = 0
        self._at = at + 1
        return self._block[at]

    def read(self, n: int) -> bytes:
        at = self._at
        end = at + n
        if end > len(self._block):
            self._more(n)
            at, end = 0, n
        self._at = end
        return self._block[at:end]

    def _more(self, n: int) -> None:
        """Has the block begin here, and hold n bytes or more."""
        if n > self.left():
            raise UnpicklingError("pickle data was truncated")
        have = len(self._block) - self._at
        self._before += self._at
        self._block = self._block[self._at :] + self._file.read(max(n - have, _BLOCK))
        self._at = 0
        if len(self._block) < n:
            raise UnpicklingError("pickle data was truncated")

    def line(self) -> str:
        """A line with a name."""
        end = self._block.find(b"\n", self._at, self._at + _MAX_NAME)
        if end >= 0:
            text = self._block[self._at : end].decode("utf-8")
            self._at = end + 1
            return text
        content = bytearray()
        while (c := self.byte()) != 0x0A:
            content.append(c)
            if len(content) > _MAX_NAME:
                raise UnpicklingError(f"a name in the pickle is longer than {_MAX_NAME} bytes")
        return content.decode("utf-8")


class Unpickler:
    """Reads one pickle of a binary file that is seekable.

    find(module, name) gives the Rule of a name, None where it may not be named: it raises an UnpicklingError with a text that helps. persistent
    makes what a persistent reference stands for. encoding is that of the strings of Python 2, "bytes" to leave them bytes.
    """

    def __init__(self, file: Any, find: Callable[[str, str], Rule], persistent: Callable[[Any], Any], encoding: str = "utf-8") -> None:
        self._stream = _Stream(file)
        self._find, self._persistent, self._encoding = find, persistent, encoding
        self._stack: list[Any] = []
        self._marks: list[list[Any]] = []
        self._memo: dict[int, Any] = {}
        self._made: dict[int, tuple[Any, Rule]] = {}  # by id: what BUILD may be used on; that it is kept here keeps its id
        self._copied = 0
        self._key_work = 0
        self._hashes: dict[int, dict[int, int]] = {}  # how many keys have a hash, by the id of the container

    def load(self) -> Any:
        """The value. Raises UnpicklingError for what is no pickle of plain data, EOFError where there is nothing."""
        if not self._stream.left():
            raise EOFError("Ran out of input")
        try:
            return self._run()
        except RecursionError as e:
            raise UnpicklingError("values of the pickle are nested too deep") from e
        except (UnpicklingError, RuntimeError, MemoryError):
            raise
        except Exception as e:
            raise UnpicklingError(f"the pickle is damaged: {type(e).__name__}: {e}") from e

    def _run(self) -> Any:
        stream, steps = self._stream, _STEPS
        while True:
            at, block = stream._at, stream._block
            if at + _LONGEST_NUMBER < len(block):  # most opcodes are those of numbers and of the memo
                op, stack = block[at], self._stack
                if op == 0x4B:  # BININT1
                    stack.append(block[at + 1])
                    stream._at = at + 2
                    continue
                if op == 0x4A:  # BININT
                    stack.append(int.from_bytes(block[at + 1 : at + 5], "little", signed=True))
                    stream._at = at + 5
                    continue
                if op == 0x4D:  # BININT2
                    stack.append(block[at + 1] | block[at + 2] << 8)
                    stream._at = at + 3
                    continue
                if op == 0x71 and stack:  # BINPUT
                    self._memo[block[at + 1]] = stack[-1]
                    stream._at = at + 2
                    continue
                if op == 0x72 and stack:  # LONG_BINPUT
                    self._memo[int.from_bytes(block[at + 1 : at + 5], "little")] = stack[-1]
                    stream._at = at + 5
                    continue
                stream._at = at + 1
            else:
                op = stream.byte()
            if op == 0x2E:  # STOP
                value = self._pop()
                self._stream.leave()
                if self._stack or self._marks:
                    raise UnpicklingError("values are left on the stack of the pickle")
                return value
            step = steps.get(op)
            if step is None:
                raise UnpicklingError(f"the pickle has the opcode {op:#04x}, which is not read")
            step(self)

    # ---- the stack ----

    def _pop(self) -> Any:
        if not self._stack:
            raise UnpicklingError("unpickling stack underflow")
        top = self._stack.pop()
        return top.rule.value if type(top) is _Named else top

    def _pop_name(self) -> Rule:
        top = self._stack.pop() if self._stack else None
        if type(top) is not _Named:
            raise UnpicklingError("the pickle calls what is no name")
        return top.rule

    def _top(self) -> Any:
        if not self._stack:
            raise UnpicklingError("unpickling stack underflow")
        return self._stack[-1]

    def _group(self) -> list[Any]:
        """The values above the last mark."""
        if not self._marks:
            raise UnpicklingError("the pickle ends a group that it did not begin")
        items = [x.rule.value if type(x) is _Named else x for x in self._stack]
        self._stack = self._marks.pop()
        return items

    def _gather(self, kind: Callable[[list[Any]], Any]) -> None:
        """Puts a container of the values above the last mark in place of these."""
        made = kind(self._group())
        self._stack.append(made)

    def _number(self, n: int) -> int:
        return int.from_bytes(self._stream.read(n), "little")

    def _counted(self, n: int) -> bytes:
        return self._stream.read(self._number(n))

    def _text(self, n: int) -> None:
        self._stack.append(str(self._counted(n), "utf-8", "surrogatepass"))

    def _old_text(self, n: int) -> None:
        content = self._counted(n)
        self._stack.append(content if self._encoding == "bytes" else content.decode(self._encoding))

    def _get(self, n: int) -> None:
        key = self._number(n)
        if key not in self._memo:
            raise UnpicklingError(f"Memo value not found at index {key}")
        self._stack.append(self._memo[key])

    def _tuple(self, n: int) -> None:
        items = [self._pop() for _ in range(n)]
        items.reverse()
        self._stack.append(tuple(items))

    def _mark(self) -> None:
        self._marks.append(self._stack)
        self._stack = []

    def _pop_mark(self) -> None:
        self._group()

    def _dup(self) -> None:
        self._stack.append(self._top())

    def _drop(self) -> None:
        if self._stack:
            self._stack.pop()
        elif self._marks:
            self._group()
        else:
            raise UnpicklingError("unpickling stack underflow")

    def _frame(self) -> None:
        if self._number(8) > self._stream.left():
            raise UnpicklingError("pickle exhausted before end of frame")

    def _protocol(self) -> None:
        version = self._number(1)
        if not 2 <= version <= 5:
            raise UnpicklingError(f"unsupported pickle protocol: {version}")

    # ---- containers ----

    def _append(self) -> None:
        value, target = self._pop(), self._top()
        if type(target) is not list:
            raise UnpicklingError("the pickle appends to what is no list")
        target.append(value)

    def _appends(self) -> None:
        items, target = self._group(), self._top()
        if type(target) is not list:
            raise UnpicklingError("the pickle appends to what is no list")
        target.extend(items)

    def _set_items(self) -> None:
        self._fill(self._group())

    def _set_item(self) -> None:
        value, key = self._pop(), self._pop()
        self._fill([key, value])

    def _fill(self, items: list[Any]) -> None:
        target = self._top()
        if not isinstance(target, dict) or type(target) is not dict and id(target) not in self._made or len(items) % 2:
            raise UnpicklingError("the pickle sets items of what is no dictionary")
        self._charge(target, items[::2])
        for i in range(0, len(items), 2):
            target[items[i]] = items[i + 1]

    def _add_items(self) -> None:
        items, target = self._group(), self._top()
        if type(target) is not set:
            raise UnpicklingError("the pickle adds to what is no set")
        self._charge(target, items)
        target.update(items)

    def _frozen(self) -> None:
        items = self._group()
        self._charge(items, items)
        self._stack.append(frozenset(items))

    def _charge(self, container: Any, keys: list[Any]) -> None:
        """Adds up what it takes to put keys into a container. Raises UnpicklingError where that is out of proportion to the pickle."""
        work, most = self._key_work, _KEY_WORK + _KEY_WORK_OF_BYTE * self._stream.done()
        for key in keys:
            kind = type(key)
            if kind is str or kind is bytes:
                work += len(key)
            elif kind is not int or not -_SMALL < key < _SMALL:
                work += key.bit_length() >> 3 if kind is int else _parts(key)
                if work <= most:
                    hashes = self._hashes.setdefault(id(container), {})
                    hashed = hash(key)
                    hashes[hashed] = same = hashes.get(hashed, 0) + 1
                    work += same
            if work > most:
                raise UnpicklingError("the keys of the pickle take longer to hash and to compare than their number explains")
        self._key_work = work

    # ---- names, and what is made of them ----

    def _global(self) -> None:
        module = self._stream.line()
        self._name(module, self._stream.line())

    def _stack_global(self) -> None:
        name, module = self._pop(), self._pop()
        if type(name) is not str or type(module) is not str:
            raise UnpicklingError("STACK_GLOBAL requires str")
        self._name(module, name)

    def _name(self, module: str, name: str) -> None:
        rule = self._find(module, name)
        self._stack.append(_Named(rule))

    def _arguments(self) -> tuple[Any, ...]:
        args = self._pop()
        if type(args) is not tuple:
            raise UnpicklingError("the arguments of a call are no tuple")
        return args

    def _reduce(self) -> None:
        args = self._arguments()
        rule = self._pop_name()
        if rule.call is None:
            raise UnpicklingError(f"the pickle calls {_shown(rule.value)}, which loading does not call")
        for arg in args:
            if isinstance(arg, (list, tuple, dict, set, frozenset, str, bytes)):
                self._copied += len(arg)
        if self._copied > self._stream.done():
            raise UnpicklingError("the pickle makes copies of its values that are larger than itself")
        if rule.keys is not None and args:
            self._charge(args, rule.keys(args[0]))
        self._keep(rule.call(*args), rule)

    def _new(self) -> None:
        args = self._arguments()
        self._make_new(args, {})

    def _new_with_keywords(self) -> None:
        keywords, args = self._pop(), self._arguments()
        if type(keywords) is not dict:
            raise UnpicklingError("the arguments of a call are no dictionary")
        self._make_new(args, keywords)

    def _make_new(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        rule = self._pop_name()
        if rule.new is None:
            raise UnpicklingError(f"the pickle makes an instance of {_shown(rule.value)}, which loading does not make")
        self._keep(rule.new(*args, **keywords), rule)

    def _keep(self, made: Any, rule: Rule) -> None:
        if rule.build is not None:
            self._made[id(made)] = made, rule
        self._stack.append(made)

    def _build(self) -> None:
        state, target = self._pop(), self._top()
        made, rule = self._made.get(id(target), (None, _NOTHING))
        if made is None or made is not target or rule.build is None:
            raise UnpicklingError(f"the pickle sets the state of {_shown(target)}, which it did not make")
        rule.build(target, state)

    def _reference(self) -> None:
        self._stack.append(self._persistent(self._pop()))


def _shown(x: Any) -> str:
    if type(x) is _Named:
        x = x.rule.value
    name = getattr(x, "__qualname__", None) or type(x).__qualname__
    return str(name)


def _parts(key: Any) -> int:
    """How many values hashing a key of a dictionary, or an element of a set, looks at. Raises UnpicklingError where these are too many."""
    seen = parts = 0
    if isinstance(key, (tuple, frozenset)):
        waiting = [key]
        while waiting:
            for part in waiting.pop():
                seen += 1 + (len(part) if isinstance(part, (str, bytes)) else part.bit_length() >> 3 if isinstance(part, int) else 0)
                parts += 1
                if parts > _MAX_KEY_PARTS:
                    raise UnpicklingError(f"a key of a dictionary has more than {_MAX_KEY_PARTS} parts")
                if isinstance(part, (tuple, frozenset)):
                    waiting.append(part)
    return seen


def _push(value: Any) -> Callable[[Unpickler], None]:
    return lambda u: u._stack.append(value)


def _memoize(u: Unpickler) -> None:
    u._memo[len(u._memo)] = u._top()


def _long(u: Unpickler, n: int) -> None:
    u._stack.append(int.from_bytes(u._counted(n), "little", signed=True))


def _put(u: Unpickler, n: int) -> None:
    u._memo[u._number(n)] = u._top()


_STEPS: dict[int, Callable[[Unpickler], None]] = {
    0x80: Unpickler._protocol, 0x95: Unpickler._frame,
    ord("N"): _push(None), 0x88: _push(True), 0x89: _push(False),
    ord("J"): lambda u: u._stack.append(struct.unpack("<i", u._stream.read(4))[0]),
    ord("K"): lambda u: u._stack.append(u._stream.byte()), ord("M"): lambda u: u._stack.append(u._number(2)),
    0x8A: lambda u: _long(u, 1), 0x8B: lambda u: _long(u, 4),
    ord("G"): lambda u: u._stack.append(struct.unpack(">d", u._stream.read(8))[0]),
    ord("X"): lambda u: u._text(4), 0x8C: lambda u: u._text(1), 0x8D: lambda u: u._text(8),
    ord("T"): lambda u: u._old_text(4), ord("U"): lambda u: u._old_text(1),
    ord("B"): lambda u: u._stack.append(u._counted(4)), ord("C"): lambda u: u._stack.append(u._counted(1)), 0x8E: lambda u: u._stack.append(u._counted(8)),
    0x96: lambda u: u._stack.append(bytearray(u._counted(8))),
    ord("]"): lambda u: u._stack.append([]), ord("}"): lambda u: u._stack.append({}), 0x8F: lambda u: u._stack.append(set()), ord(")"): _push(()),
    ord("("): Unpickler._mark, ord("1"): Unpickler._pop_mark, ord("0"): Unpickler._drop, ord("2"): Unpickler._dup,
    ord("t"): lambda u: u._gather(tuple), ord("l"): lambda u: u._gather(list),
    0x85: lambda u: u._tuple(1), 0x86: lambda u: u._tuple(2), 0x87: lambda u: u._tuple(3),
    0x91: Unpickler._frozen,
    ord("a"): Unpickler._append, ord("e"): Unpickler._appends, ord("s"): Unpickler._set_item, ord("u"): Unpickler._set_items, 0x90: Unpickler._add_items,
    ord("q"): lambda u: _put(u, 1), ord("r"): lambda u: _put(u, 4), 0x94: _memoize, ord("h"): lambda u: u._get(1), ord("j"): lambda u: u._get(4),
    ord("c"): Unpickler._global, 0x93: Unpickler._stack_global,
    ord("R"): Unpickler._reduce, 0x81: Unpickler._new, 0x92: Unpickler._new_with_keywords, ord("b"): Unpickler._build, ord("Q"): Unpickler._reference,
}  # fmt: skip


# ---- what plain data is made of ----


def _ordered(pairs: Any = ()) -> Any:
    made: Any = collections.OrderedDict()
    for key, value in pairs:
        made[key] = value
    return made


def _keys_of_pairs(pairs: Any) -> list[Any]:
    if type(pairs) not in (list, tuple):
        raise UnpicklingError("an OrderedDict of the pickle is not made of a list")
    return [key for key, _ in pairs]


_FACTORIES = (list, dict, set, frozenset, tuple, int, float, bool, str, complex, collections.OrderedDict)


def _default(factory: Any = None) -> Any:
    if factory is not None and not any(factory is kind for kind in _FACTORIES):
        raise UnpicklingError("a defaultdict of the pickle makes values that loading does not make")
    return collections.defaultdict(factory)


def _counter(counts: Any = ()) -> Any:
    if counts and type(counts) is not dict:
        raise UnpicklingError("a Counter of the pickle is not made of a dictionary")
    made: Any = collections.Counter()
    made.update(counts)
    return made


def _set_attributes(target: Any, state: Any) -> None:
    """Sets attributes of a new container. Raises UnpicklingError for other states than attributes by name."""
    if type(state) is not dict or not all(type(name) is str for name in state):
        raise UnpicklingError("the state of a container is no dictionary of names")
    target.__dict__.update(state)


def _elements(kind: Any) -> Callable[..., Any]:
    def make(items: Any = ()) -> Any:
        return kind(_list(items))

    return make


def _list(items: Any) -> Any:
    if type(items) not in (list, tuple):
        raise UnpicklingError("a set of the pickle is not made of a list")
    return items


def _bytes(text: Any, encoding: Any = "latin1") -> bytes:
    """The bytes of a string: protocol 2 writes bytes so."""
    if type(text) is not str or encoding not in ("latin1", "latin-1"):
        raise UnpicklingError("bytes of the pickle are not written as it is usual")
    return text.encode("latin1")


def _slice(*parts: Any) -> slice:
    return slice(*parts)


def _complex(real: Any, imaginary: Any = 0.0) -> complex:
    if type(real) not in (int, float) or type(imaginary) not in (int, float):
        raise UnpicklingError("a complex number of the pickle is not made of numbers")
    return complex(real, imaginary)


PLAIN: dict[tuple[str, str], Rule] = {
    ("collections", "OrderedDict"): Rule(collections.OrderedDict, call=_ordered, build=_set_attributes, keys=_keys_of_pairs),
    ("collections", "defaultdict"): Rule(collections.defaultdict, call=_default, build=_set_attributes),
    ("collections", "Counter"): Rule(collections.Counter, call=_counter, build=_set_attributes),
    ("_codecs", "encode"): Rule(_bytes, call=_bytes),
}  # fmt: skip
for _module in ("builtins", "__builtin__"):
    PLAIN[_module, "set"] = Rule(set, call=_elements(set), keys=_list)
    PLAIN[_module, "frozenset"] = Rule(frozenset, call=_elements(frozenset), keys=_list)
    PLAIN[_module, "complex"] = Rule(complex, call=_complex)
    PLAIN[_module, "slice"] = Rule(slice, call=_slice)
    for _name in ("list", "dict", "tuple", "int", "float", "bool", "str"):
        PLAIN[_module, _name] = Rule(getattr(builtins, _name))
