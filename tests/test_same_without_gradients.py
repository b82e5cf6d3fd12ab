"""Operators that are made of others where gradients are recorded refuse and take there what they do elsewhere."""

import pytest

import torchjit as torch
from torchjit.nn import functional as F

CASES = {
    "a probability below zero": (lambda r: torch.dropout(torch.ones(3, requires_grad=r), -1.0, False), "dropout probability has to be between 0 and 1"),
    "a word for padding": (lambda r: F.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2, requires_grad=r), padding="sum"), "Invalid padding string"),
    "rows of a vector": (lambda r: torch.vsplit(torch.ones(4, requires_grad=r), 2), "torch.vsplit requires a tensor with at least 2 dimension"),
    "parts of unequal size": (lambda r: torch.hsplit(torch.ones(4, 3, requires_grad=r), 2), "the size of the dimension 3 is not divisible by the split_size 2"),
    "no dimensions before the others": (lambda r: torch.linalg.tensorinv(torch.ones(1, 1, requires_grad=r), 0), "Expected a strictly positive integer for 'ind'"),
    "divergences of complex numbers": (lambda r: torch.kl_div(torch.ones(3, dtype=torch.complex64, requires_grad=r), torch.ones(3)), "Complex inputs not supported"),
    "a sparse memory of a cell": (
        lambda r: torch.lstm_cell(torch.ones(2, 3), [torch.ones(2, 5), torch.ones(2, 5).to_sparse()], torch.ones(20, 3, requires_grad=r), torch.ones(20, 5)), r"add\(sparse, dense\) is not supported"
    ),
    "rows of too many sizes": (lambda r: packed_lstm(torch.ones(1, 2, 5), r, [2, 2]), "Expected 4 rows of input"),
    "places of other sizes": (lambda r: torch.trapz(torch.ones(3, 1), torch.ones(4, 3, 1, requires_grad=r)), r"The size of tensor a \(3\) must match the size of tensor b \(2\)"),
    "one place for two points": (lambda r: torch.cumulative_trapezoid(torch.ones(2), torch.ones(1, requires_grad=r)), "cumulative_trapezoid: There must be one `x` value for each sample point"),
    "a mask of more batches": (lambda r: attended(torch.ones(2, 1, 1, dtype=torch.bool), r), r"output with shape \[1, 1, 1\] doesn't match the broadcast shape \[2, 1, 1\]"),
    "summands of more batches": (lambda r: attended(torch.ones(2, 1, 1), r), r"output with shape \[1, 1, 1\] doesn't match the broadcast shape \[2, 1, 1\]"),
    "sizes of batches that rise": (lambda r: packed_lstm(torch.ones(1, 2, 5), r, [1, 2]), "Expected hidden0 of shape"),
    "a memory of bytes": (lambda r: packed_lstm(torch.ones(1, 2, 5, dtype=torch.uint8), r), "expected scalar type Float but found Byte"),
}


def attended(mask, records):
    x = torch.ones(1, 1, 2, requires_grad=records)
    return F.scaled_dot_product_attention(x, x, x, mask), torch._scaled_dot_product_attention(x, x, x, mask)


def packed_lstm(memory, records, sizes=(2, 1)):
    parameters = [torch.ones(20, 3, requires_grad=records), torch.ones(20, 5)]
    return torch.ops.aten.lstm.data(torch.ones(3, 3), torch.tensor(sizes), [torch.ones(1, 2, 5), memory], parameters, False, 1, 0.0, False, False)


@pytest.mark.parametrize("records", [False, True])
@pytest.mark.parametrize("what", CASES)
def test_refused(what, records):
    call, message = CASES[what]
    with pytest.raises(RuntimeError, match=message):
        call(records)


def test_complex_norms_of_real_numbers_have_no_gradient():
    norm = torch.ops.aten.norm.ScalarOpt_dim_dtype
    assert norm(torch.ones(4), 2, [0], False, dtype=torch.complex64).item() == 2 + 0j
    with pytest.raises(RuntimeError, match="norm does not support automatic differentiation for outputs with complex dtype"):
        norm(torch.ones(4, requires_grad=True), 2, [0], False, dtype=torch.complex64)


@pytest.mark.parametrize("records", [False, True])
def test_places_of_trapezoids_are_broadcast(records):
    assert torch.trapz(torch.ones(4, 2, requires_grad=records), torch.ones(1, 1), dim=1).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("records", [False, True])
def test_places_of_more_dimensions_than_a_function(records):
    places = torch.tensor([[0.0, 1.0], [2.0, 5.0]], requires_grad=records)
    assert torch.trapz(torch.ones(2), places).tolist() == [2, 4]  # along dimension 0, the function's last one
    assert torch.cumulative_trapezoid(torch.ones(2), places).tolist() == [[2, 4]]
    assert torch.trapz(torch.ones(4, 1, 1), torch.ones(1, 4, 0, 1, requires_grad=records)).shape == (1, 4, 0)
    assert torch.cumulative_trapezoid(torch.ones(2, 0), torch.ones(2, 0, requires_grad=records)).shape == (2, 0)


def test_running_statistics_of_vectors_have_no_gradients():
    zero, mean = torch.zeros(0), torch.zeros(0, requires_grad=True)
    out, _, _ = torch.native_batch_norm(zero, zero, zero, mean, zero, False, 0.1, 1e-5)
    with pytest.raises(RuntimeError, match=r"native_batch_norm_backward: expected at least 2D input \(got 1D input\)"):
        out.sum().backward()


@pytest.mark.parametrize("records", [False, True])
def test_one_bias_counts_for_all_gates_of_a_cell(records):
    state = [torch.zeros(2, 5), torch.zeros(2, 5)]
    bias = torch.full((1,), 0.5, requires_grad=records)
    found = torch.lstm_cell(torch.ones(2, 3), state, torch.ones(20, 3), torch.ones(20, 5), torch.zeros(20), bias)
    expected = torch.lstm_cell(torch.ones(2, 3), state, torch.ones(20, 3), torch.ones(20, 5), torch.zeros(20), torch.full((20,), 0.5))
    assert all(torch.allclose(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("records", [False, True])
def test_sparse_tensors_go_through_what_a_cell_is_made_of(records):
    weight, hidden = torch.eye(20, 3), torch.eye(20, 5, requires_grad=records)
    expected = torch.lstm_cell(torch.ones(2, 3), [torch.ones(2, 5), torch.ones(2, 5)], weight, hidden)
    for x, state, w in ((torch.ones(2, 3).to_sparse(), torch.ones(2, 5), weight), (torch.ones(2, 3), torch.ones(2, 5).to_sparse(), weight), (torch.ones(2, 3), torch.ones(2, 5), weight.to_sparse_csr())):
        found = torch.lstm_cell(x, [state, torch.ones(2, 5)], w, hidden)
        assert all(torch.allclose(a, b) for a, b in zip(found, expected, strict=True))


def test_tensors_without_elements_are_written_whatever_their_strides_are():
    torch.zeros(1).expand(2, 0).fill_(1).add_(1)
    torch.zeros(2, 1, 0).expand(2, 4, 0).mul_(2)


def test_logit_with_an_eps_above_a_half():
    assert torch.logit(torch.tensor([0.5, 2.0, -1.0]), eps=1.0).tolist() == [float("inf"), float("-inf"), float("inf")]


@pytest.mark.parametrize("records", [False, True])
def test_a_label_may_be_that_of_blanks(records):
    logs = torch.arange(12.0).reshape(4, 1, 3).log_softmax(2).requires_grad_(records)
    loss = torch.ctc_loss(logs, torch.tensor([[1, 0]]), [4], [2], 0, 0)
    assert loss.item() == pytest.approx(5.2889, abs=1e-4)  # PyTorch 1.13.1's


@pytest.mark.parametrize("records", [False, True])
def test_targets_below_zero_have_no_divergence(records):
    loss = torch.kl_div(torch.zeros(3, requires_grad=records), torch.tensor([-1.0, 0.0, torch.nan]), 0)
    assert loss.isnan().tolist() == [True, False, True]
