"""Notebooks: cells that are run again define their functions and classes anew, and these compile as they are now."""

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")

SETUP = "import torchjit as torch\nfrom torchjit import nn\nfrom typing import NamedTuple"
FACTOR = "@torch.jit.script\ndef times(x):\n    return x * {0}"
RECORD = "@torch.jit.script\nclass Pair:\n    def __init__(self, a: int):\n        self.a = a + {0}\n\n    def both(self) -> int:\n        return self.a * 10\n"
USES_RECORD = "@torch.jit.script\ndef use(a: int) -> int:\n    return Pair(a).both()\n"
NAMED = "class Named(NamedTuple):\n    a: int\n    b{0}: int\n\n\n@torch.jit.script\ndef make(a: int) -> Named:\n    return Named(a, a + {0})\n"
MODULE = "class Net(nn.Module):\n    def forward(self, x):\n        return x + {0}\n\n\nnet = torch.jit.script(Net())"
SHOW = "print(times(torch.ones(1)).item(), use(1), make(1), net(torch.ones(1)).item())"


def outputs(cells):
    """What the cells of a notebook print, run one after the other by a kernel."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return ["".join(part.get("text", "") for part in cell["outputs"]) for cell in notebook.cells]


def test_cells_that_are_run_again():
    cells = [SETUP]
    for value in (2, 3):
        cells += [text.format(value) for text in (FACTOR, RECORD, USES_RECORD, NAMED, MODULE)] + [SHOW]
    cells += [USES_RECORD, SHOW]
    found = outputs(cells)
    assert found[6] == "2.0 30 Named(a=1, b2=3) 3.0\n"
    assert found[12] == found[14] == "3.0 40 Named(a=1, b3=4) 4.0\n"


def test_errors_show_the_line_of_their_cell():
    with pytest.raises(nbclient.exceptions.CellExecutionError) as caught:
        outputs([SETUP, "@torch.jit.script\ndef wrong(x):\n    y = x + 1\n    return y.nothing()"])
    assert "return y.nothing()" in str(caught.value) and "nothing" in str(caught.value)
