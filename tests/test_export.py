"""torch.export: programs of functional operators."""

import pytest

import torchjit as torch
import torchjit.export  # noqa: F401
from torchjit import nn
from torchjit.export.graph_signature import InputKind, OutputKind


class Add(nn.Module):
    def forward(self, x, y):
        return x + y


def test_text_of_a_graph():
    ep = torch.export.export(Add(), (torch.randn(1), torch.randn(1)))
    assert str(ep.graph).strip() == (
        "graph():\n"
        "    %x : [num_users=1] = placeholder[target=x]\n"
        "    %y : [num_users=1] = placeholder[target=y]\n"
        "    %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%x, %y), kwargs = {})\n"
        "    return (add,)"
    )


def test_parameters_and_buffers_are_inputs():
    torch.manual_seed(0)
    m = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).eval()
    x = torch.randn(2, 3)
    ep = torch.export.export(m, (x,))
    signature = ep.graph_signature
    assert signature.inputs_to_parameters["p_0_weight"] == "0.weight"
    assert signature.inputs_to_buffers["b_1_running_var"] == "1.running_var"
    assert signature.user_outputs == ("batch_norm",)
    assert [s.kind for s in signature.input_specs][-1] == InputKind.USER_INPUT
    assert [s.kind for s in signature.output_specs] == [OutputKind.USER_OUTPUT]
    assert ep.state_dict["0.weight"] is m[0].weight
    assert torch.equal(ep.module()(x), m(x))


def test_metadata():
    ep = torch.export.export(nn.Sequential(nn.Linear(3, 4)), (torch.randn(2, 3),))
    (call,) = [n for n in ep.graph.nodes if n.op == "call_function"]
    assert set(call.meta) == {"val", "stack_trace", "nn_module_stack", "source_fn_stack"}
    assert call.meta["val"].shape == (2, 4) and call.meta["val"].dtype == torch.float32
    assert list(call.meta["nn_module_stack"].values()) == [("self", nn.Sequential), ("self.0", nn.Linear)]
    assert call.meta["source_fn_stack"][-1][1] is nn.Linear
    assert "in forward\n    return F.linear" in call.meta["stack_trace"]


def test_what_is_no_module():
    with pytest.raises(ValueError, match="to be an instance of `torch.nn.Module`"):
        torch.export.export(lambda x: x, (torch.ones(1),))
