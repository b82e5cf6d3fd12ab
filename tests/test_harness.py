"""What test files import from torch.testing._internal: it holds modules, losses and pipes to their definitions."""

import itertools
import unittest

import pytest

import torchjit as torch
from torchjit.testing._internal import composite_compliance
from torchjit.testing._internal.autocast_test_lists import AutocastCPUTestLists
from torchjit.testing._internal.common_methods_invocations import (
    mask_not_all_zeros,
    sparse_csr_unary_ufuncs,
    sparse_unary_ufuncs,
)
from torchjit.testing._internal.common_nn import (
    CriterionTest,
    NewModuleTest,
    NNTestCase,
    criterion_tests,
    loss_reference_fns,
    module_tests,
)
from torchjit.testing._internal.common_subclass import DiagTensorBelow, NonWrapperTensor, SparseTensor
from torchjit.testing._internal.common_utils import (
    coalescedonoff,
    load_tests,
    random_sparse_matrix,
    random_sparse_pd_matrix,
)
from torchjit.testing._internal.generated.annotated_fn_args import annotated_args
from torchjit.utils.data import DataLoader2, communication, guaranteed_datapipes_determinism, non_deterministic
from torchjit.utils.data.datapipes.iter import IterableWrapper
from torchjit.utils.data.datapipes.utils.snapshot import _simple_graph_snapshot_restoration

F = torch.nn.functional
pytestmark = pytest.mark.filterwarnings("ignore:reduction")
NAMES = {"Linear", "Softmax", "PReLU", "MSELoss", "CrossEntropyLoss", "KLDivLoss"}


class Case(NNTestCase):
    def runTest(self):  # noqa: N802
        pass


def cases_of(kind, cases):
    for given in cases:
        given = dict(given)
        name = given.pop("module_name")
        if name in NAMES:
            yield kind(constructor=getattr(torch.nn, name), **given)


@pytest.mark.parametrize("test", [*cases_of(NewModuleTest, module_tests), *cases_of(CriterionTest, criterion_tests)], ids=lambda test: test.get_name())
def test_modules_and_losses(test):
    test(Case())


def test_a_module_with_a_wrong_gradient_is_found():
    class Wrong(torch.nn.Module):
        def forward(self, x):
            return x.detach() * x

    with pytest.raises(torch.autograd.gradcheck.GradcheckError if hasattr(torch.autograd.gradcheck, "GradcheckError") else RuntimeError):
        NewModuleTest(constructor=Wrong, input_size=(3,), pickle=False)(Case())


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_losses_by_their_definitions(reduction):
    torch.manual_seed(0)
    x, y, w = torch.randn(4, 5), torch.randn(4, 5), torch.rand(5)
    labels, signs = torch.tensor([0, 3, 2, 4]), torch.tensor([1.0, -1, 1, -1])
    logs = torch.randn(6, 2, 4).log_softmax(2)
    spans = (logs, torch.tensor([[1, 2, 2], [3, 1, 0]]), [6, 5], [3, 2])
    for name, function, args, more in (
        ("KLDivLoss", F.kl_div, (x.log_softmax(1), y.softmax(1)), {}), ("NLLLoss", F.nll_loss, (x.log_softmax(1), labels), {"weight": w}),
        ("SmoothL1Loss", F.smooth_l1_loss, (x, y), {"beta": 0.5}), ("HuberLoss", F.huber_loss, (x, y), {"delta": 0.7}),
        ("HingeEmbeddingLoss", F.hinge_embedding_loss, (x[:, 0], signs), {}), ("SoftMarginLoss", F.soft_margin_loss, (x[:, 0], signs), {}),
        ("MultiMarginLoss", F.multi_margin_loss, (x, labels), {"p": 2, "margin": 0.5, "weight": w}), ("CTCLoss", F.ctc_loss, spans, {}),
        ("CosineEmbeddingLoss", F.cosine_embedding_loss, (x, y, signs), {}), ("TripletMarginLoss", F.triplet_margin_loss, (x, y, y.flip(0)), {"swap": True}),
        ("CrossEntropyLoss", F.cross_entropy, (x, labels), {"weight": w, "label_smoothing": 0.2}), ("CrossEntropyLoss", F.cross_entropy, (x, y.softmax(1)), {"weight": w}),
        ("MultiLabelMarginLoss", F.multilabel_margin_loss, (x, torch.tensor([[0, 2, -1, 1, 1], [3, -1, 0, 0, 0], [1, 2, 3, -1, 0], [-1, 0, 0, 0, 0]])), {}),
    ):  # fmt: skip
        torch.testing.assert_close(loss_reference_fns[name](*args, **more, reduction=reduction), function(*args, **more, reduction=reduction), atol=1e-4, rtol=1e-4)


def test_load_tests_has_all_that_were_found():
    class Two(unittest.TestCase):
        def test_a(self):
            pass

        def test_b(self):
            pass

    found = unittest.TestLoader().loadTestsFromTestCase(Two)
    assert load_tests(None, [found], None).countTestCases() == 2


def test_sparse_matrices():
    dense = random_sparse_pd_matrix(6, 0.6).to_dense()
    torch.testing.assert_close(torch.linalg.eigvalsh(dense), torch.arange(1, 7, dtype=torch.double) / 6)
    assert random_sparse_matrix(5, 3, 0.4)._nnz() == 6
    assert mask_not_all_zeros((2, 2)).any()
    names = {op.name for op in sparse_unary_ufuncs}
    assert {"sin", "sqrt", "neg"} <= names and "cos" not in names and {op.name for op in sparse_csr_unary_ufuncs} >= {"sin", "sqrt"}

    class Seen:
        @coalescedonoff
        def test(self, coalesced):
            seen.append(coalesced)

    seen = []
    Seen().test()
    assert seen == [True, False]


def test_subclasses():
    assert (NonWrapperTensor(torch.ones(2)) + 1).extra_state == {"last_func_called": "add"}
    assert (SparseTensor.from_dense(torch.tensor([0.0, 2])) * 2).sparse_to_dense().tolist() == [0, 4]
    assert (DiagTensorBelow(torch.arange(2.0)) @ torch.ones(2)).tolist() == [0, 1]


def test_composite_operators_see_the_class():
    equal = torch.testing.assert_close
    args = torch.rand(2, 3, requires_grad=True), torch.rand(3, 2, requires_grad=True)
    composite_compliance.check_with_mode(torch.mm, args, {}, equal)
    composite_compliance.check_all_permutations(torch.mm, args, {}, equal)
    composite_compliance.check_backward_formula(torch.mm, args, {}, None, None, equal)
    with pytest.raises((RuntimeError, NotImplementedError, AssertionError, TypeError)):
        composite_compliance.check_all_permutations(lambda x: torch.tensor(x.detach().numpy() + 1), (torch.rand(2),), {}, equal)


def test_autocasts_do_what_the_lists_say():
    lists = AutocastCPUTestLists("cpu")
    for calls, dtype in ((lists.torch_bf16, torch.bfloat16), (lists.torch_fp32, torch.float32)):
        for name, args in calls:
            with torch.autocast("cpu"):
                assert getattr(torch, name)(*args).dtype == dtype, name
    assert [arg["simple_type"] for arg in annotated_args[torch.addmm]] == ["Tensor"] * 3


def test_pipes_that_move_and_loaders_of_pipes():
    @non_deterministic
    class Moving(torch.utils.data.IterDataPipe):
        def __iter__(self):
            yield 1

    assert list(Moving()) == [1]
    with guaranteed_datapipes_determinism(), pytest.raises(TypeError, match="Moving is non-deterministic"):
        Moving()
    assert [b.tolist() for b in DataLoader2(IterableWrapper(range(3)), batch_size=2)] == [[0, 1], [2]]
    threads = DataLoader2(IterableWrapper(range(2)), batch_size=None, num_workers=2, parallelism_mode="thread")
    assert sorted(itertools.chain(threads)) == [0, 0, 1, 1]
    queue = communication.queue.LocalQueue()
    queue.put(3)
    assert queue.get() == 3
    pipe = IterableWrapper(range(4))
    _simple_graph_snapshot_restoration(pipe, 3)
    assert (list(pipe), list(pipe)) == ([3], [0, 1, 2, 3])
    with pytest.raises(RuntimeError, match="exceeds the number of samples"):
        _simple_graph_snapshot_restoration(IterableWrapper(range(2)), 5)


def test_captured_operations():
    from torchjit.utils.data.datapipes.dataframe import CaptureDataFrame

    frame = CaptureDataFrame()
    frame["c"] = frame["b"] + frame["a"] * 7
    frame["a"] = 1 - frame["c"]
    frame["n"] = frame["b"].bit_length()
    assert frame.apply_ops({"a": 1, "b": 2}) == {"a": -8, "b": 2, "c": 9, "n": 2}
    assert (frame["b"] > 1).apply_ops({"a": 1, "b": 2}) is True
