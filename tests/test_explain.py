"""torch.jit.explain gives an object; graphs, modules and programs have drawings."""

import xml.dom.minidom

import pytest

import torchjit as torch


@pytest.fixture(scope="module")
def net():
    made = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU(), torch.nn.Linear(8, 4)).eval()
    return torch.jit.script(made)


def test_groups_steps_and_times(net):
    x = torch.randn(16, 8)
    with torch.no_grad():
        told = torch.jit.explain(net, x)
    (group,) = told.groups
    assert group.planned and group.operators == ["aten::linear", "aten::gelu", "aten::linear"] and group.reasons == []
    assert [s.text.split()[2] for s in group.steps] == ["linear+gelu", "linear"] and all(s.microseconds > 0 for s in group.steps)
    times = {t.name: t for t in told.times}
    assert times["linear+gelu"].count == times["forward"].count == 1
    assert times["plan"].total_us >= times["plan"].self_us + times["linear+gelu"].total_us
    assert times["forward"].total_us == pytest.approx(sum(t.self_us for t in told.times if not t.name.startswith("nn.Module")), rel=1e-6)
    assert "microseconds of a call, the average of 5" in str(told) and str(told).startswith(told.graph)
    assert repr(told) == "<torch.jit.Explanation of forward: 1 groups of operators, 1 of which always run together>"


def test_reasons():
    @torch.jit.script
    def f(x):
        return (x * 2 + 1).tanh()

    f(torch.ones(3, dtype=torch.complex64))
    told = torch.jit.explain(f)
    assert told.times == [] and len(told.groups[0].reasons) == 1
    assert "ran one by one: " + told.groups[0].reasons[0] in str(told)


def test_keyword_arguments_and_tuples():
    @torch.jit.script
    def f(pair: tuple[torch.Tensor, torch.Tensor], scale: float = 1.0):
        return pair[0] * pair[1] * scale

    told = torch.jit.explain(f, (torch.ones(2), torch.ones(2)), scale=2.0)
    assert "f" in {t.name for t in told.times}


def _parsed(picture):
    return xml.dom.minidom.parseString(picture).documentElement


def test_pages_and_drawings(net, tmp_path):
    told = torch.jit.explain(net)
    told.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "aten::linear, aten::gelu, aten::linear" in page
    _parsed(page[page.index("<svg") : page.index("</svg>") + 6])
    assert "<svg" in told._repr_html_() and "<svg" in net.graph._repr_html_()
    texts = [t.firstChild.data for t in _parsed(net._repr_svg_()).getElementsByTagName("text")]
    assert texts.count("linear") == 2 and "gelu" in texts and any("weight=self.0.weight" in t for t in texts)
    assert "gelu" in net._repr_html_() and net.graph.dot().startswith("digraph {")


def test_programs_are_drawn():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, x, flag):
            return torch.cond(flag, lambda x: self.linear(x).sin(), lambda x: x.cos(), (x,))

    program = torch.export.export(Net(), (torch.randn(2, 3), torch.tensor(True)))
    texts = [t.firstChild.data for t in _parsed(program._repr_svg_()).getElementsByTagName("text")]
    assert {"x", "flag", "cond", "sin", "cos", "return"} <= set(texts)
    assert "<svg" in program._repr_html_() and "ExportedProgram" in program._repr_html_()


def test_large_graphs_are_shown_as_text():
    lines = "\n".join(f"    x = x + {i}" for i in range(2500))
    unit = torch.jit.CompilationUnit(f"def f(x):\n{lines}\n    return x\n")
    assert unit.f.graph._repr_svg_() is None and unit.f.graph._repr_html_().startswith("<pre>")


def test_texts_are_escaped():
    g = torch._C.parse_ir('graph(%x : Tensor):\n  %y : str = prim::Constant[value="<b>&"]()\n  %z : Tensor = aten::foo(%x, %y)\n  return (%z)\n')
    assert "<b>" not in g._repr_svg_() and "&lt;b&gt;&amp;" in g._repr_svg_()


def test_overloaded_methods_are_explained_as_they_ran_last():
    module = torch.jit.script(torch.nn.LSTM(3, 4))
    found = []
    for sizes in ((2, 1, 3), (2, 3)):
        x = torch.ones(*sizes)
        module(x)
        module(torch.nn.utils.rnn.pack_padded_sequence(x, [2]) if x.dim() == 3 else x)
        found.append(torch.jit.explain(module).name)
    assert found == ["forward__1", "forward__0"]
    assert "aten::lstm" in torch.jit.explain(module).graph and module.forward.graph.findNode("aten::lstm") is not None
