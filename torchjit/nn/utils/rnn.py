"""Sequences of different lengths in one batch."""

from collections.abc import Callable, Iterable
from typing import Any, List, NamedTuple, Optional, Tuple, TypeVar, Union

import torchjit as torch
from torchjit import Tensor, _lazy

_T = TypeVar("_T")
_R = TypeVar("_R")

# ruff: noqa: UP006, UP035, UP045, A002


class PackedSequence_(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Optional[Tensor]
    unsorted_indices: Optional[Tensor]


PackedSequence_.__annotations__ = {
    "data": Tensor,
    "batch_sizes": Tensor,
    "sorted_indices": Optional[Tensor],
    "unsorted_indices": Optional[Tensor],
}


class PackedSequence(PackedSequence_):
    """The steps of several sequences, longest first, one step after the other."""

    def __new__(
        cls, data: Union[Tensor, Tuple[Tensor, Tensor]], batch_sizes: Optional[Tensor] = None,
        sorted_indices: Optional[Tensor] = None, unsorted_indices: Optional[Tensor] = None,
    ) -> "PackedSequence":  # fmt: skip
        return super().__new__(cls, *_packed_sequence_init_args(data, batch_sizes, sorted_indices, unsorted_indices))  # type: ignore[arg-type]

    @property
    def is_cuda(self) -> bool:
        """Whether the steps are on a GPU."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Whether the steps are in pinned memory."""
        return self.data.is_pinned()

    def to(self, *args: Any, **kwargs: Any) -> "PackedSequence":
        """The steps as Tensor.to gives them; itself where that changes nothing."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def cuda(self, *args: Any, **kwargs: Any) -> "PackedSequence":
        """Raises AssertionError: there is no GPU."""
        return self.to(*args, device="cuda", **kwargs)

    def cpu(self) -> "PackedSequence":
        """The steps on the CPU."""
        return self.to("cpu")


def _converted(name: str):
    def convert(self):
        return self.to(getattr(torch, name))

    convert.__name__, convert.__doc__ = name, f"The steps as torch.{name}."
    return convert


for _name, _dtype in (("double", "float64"), ("float", "float32"), ("half", "float16"), ("long", "int64"), ("int", "int32"), ("short", "int16"),
                      ("char", "int8"), ("byte", "uint8")):  # fmt: skip
    setattr(PackedSequence, _name, _converted(_dtype))


def bind(optional: Optional[_T], fn: Callable[[_T], _R]) -> Optional[_R]:
    """fn of a value, None of None."""
    return None if optional is None else fn(optional)


def _packed_sequence_init_args(
    data: Tensor, batch_sizes: Optional[Tensor] = None, sorted_indices: Optional[Tensor] = None, unsorted_indices: Optional[Tensor] = None
) -> Tuple[Tensor, Tensor, Optional[Tensor], Optional[Tensor]]:
    """The fields of a PackedSequence; in Python, data and batch_sizes may come as one pair. The two permutations undo each other."""
    if unsorted_indices is None:
        unsorted_indices = invert_permutation(sorted_indices)
    if batch_sizes is None:
        if torch.jit.is_scripting():
            raise AssertionError("a packed sequence has batch sizes")
        return _pair_fields(data, sorted_indices, unsorted_indices)
    return data, batch_sizes, sorted_indices, unsorted_indices


@torch.jit.unused
def _pair_fields(
    pair: Tensor, sorted_indices: Optional[Tensor], unsorted_indices: Optional[Tensor]
) -> Tuple[Tensor, Tensor, Optional[Tensor], Optional[Tensor]]:
    assert isinstance(pair, (list, tuple))
    assert len(pair) == 2
    data, batch_sizes = pair
    return data, batch_sizes, sorted_indices, unsorted_indices


def _packed_sequence_init(
    data: Tensor, batch_sizes: Optional[Tensor] = None, sorted_indices: Optional[Tensor] = None, unsorted_indices: Optional[Tensor] = None
) -> PackedSequence:
    """A PackedSequence. A script makes the class of its fields alone, without __new__, so that scripts call this instead."""
    data, batch_sizes, sorted_indices, unsorted_indices = _packed_sequence_init_args(data, batch_sizes, sorted_indices, unsorted_indices)
    return PackedSequence(data, batch_sizes, sorted_indices, unsorted_indices)


def invert_permutation(permutation: Optional[Tensor]) -> Optional[Tensor]:
    """The permutation that undoes another."""
    if permutation is None:
        return None
    output = torch.empty_like(permutation)
    output.scatter_(0, permutation, torch.arange(0, permutation.numel(), device=permutation.device))
    return output


def pack_padded_sequence(
    input: Tensor, lengths: Tensor, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Packs padded sequences of the given lengths.

    >>> nn.utils.rnn.pack_padded_sequence(torch.tensor([[1, 2], [3, 0]]), [2, 1], batch_first=True).data
    tensor([1, 3, 2])
    """
    lengths = torch.as_tensor(lengths, dtype=torch.int64)
    if enforce_sorted:
        sorted_indices = None
    else:
        lengths, sorted_indices = torch.sort(lengths, descending=True)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    data, batch_sizes = torch._pack_padded_sequence(input, lengths, batch_first)
    return _packed_sequence_init(data, batch_sizes, sorted_indices, None)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: Optional[int] = None
) -> Tuple[Tensor, Tensor]:
    """Unpacks into padded sequences and their lengths.

    >>> packed = nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])])
    >>> nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    (tensor([[1, 2, 3],
            [4, 0, 0]]), tensor([3, 1]))
    """
    max_seq_length = sequence.batch_sizes.size(0)
    if total_length is not None:
        if total_length < max_seq_length:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {max_seq_length}"
            )
        max_seq_length = total_length
    padded_output, lengths = torch._pad_packed_sequence(
        sequence.data, sequence.batch_sizes, batch_first, padding_value, max_seq_length
    )
    unsorted_indices = sequence.unsorted_indices
    if unsorted_indices is not None:
        batch_dim = 0 if batch_first else 1
        return padded_output.index_select(batch_dim, unsorted_indices), lengths[unsorted_indices]
    return padded_output, lengths


@torch.jit.unused
def _listed(sequences: List[Tensor]) -> List[Tensor]:
    if isinstance(sequences, Tensor):
        return list(sequences.unbind(0))
    if not isinstance(sequences, Iterable):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    return list(sequences)


def pad_sequence(sequences: List[Tensor], batch_first: bool = False, padding_value: float = 0.0) -> Tensor:
    """Stacks sequences, the shorter ones padded; a tensor is the sequence of its parts.

    >>> nn.utils.rnn.pad_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])], batch_first=True)
    tensor([[1, 2, 3],
            [4, 0, 0]])
    """
    if not torch.jit.is_scripting() and not isinstance(sequences, (list, tuple)):
        sequences = _listed(sequences)
    return torch.pad_sequence(sequences, batch_first, padding_value)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> List[Tensor]:
    """The sequences of a padded batch (L x B, or B x L with batch_first), cut to their lengths.

    >>> nn.utils.rnn.unpad_sequence(torch.tensor([[1, 2], [3, 0]]), torch.tensor([2, 1]), batch_first=True)
    [tensor([1, 2]), tensor([3])]
    """
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    unpadded = []
    for i in range(len(lengths)):
        unpadded.append(padded_sequences[i, : int(lengths[i])])
    return unpadded


def pack_sequence(sequences: List[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences of different lengths (L x *). With enforce_sorted they must come longest first.

    >>> nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])]).batch_sizes
    tensor([2, 1, 1])
    """
    lengths = torch.as_tensor([v.size(0) for v in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> List[Tensor]:
    """The sequences that pack_sequence packed.

    >>> packed = nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])])
    >>> nn.utils.rnn.unpack_sequence(packed)
    [tensor([1, 2, 3]), tensor([4])]
    """
    padded_sequences, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded_sequences, lengths, batch_first=True)


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {"torchjit": "_VF"})
