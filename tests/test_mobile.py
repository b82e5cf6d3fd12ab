"""torch.jit.mobile reads what PyTorch saved for its lite interpreter (data/lite.ptl: relu(linear(x)) + scale([1, 2]))."""

import io
import pathlib
import pickle
import zipfile

import pytest

import torchjit as torch
from torchjit.jit import mobile

LITE = pathlib.Path(__file__).parent / "data" / "lite.ptl"


@pytest.mark.parametrize("opened", (str, lambda path: io.BytesIO(path.read_bytes())))
def test_module_of_the_lite_interpreter(opened):
    module = mobile._load_for_lite_interpreter(opened(LITE))
    x = torch.tensor([[3.0, 4.0]])
    assert module(x).tolist() == module.forward(x).tolist() == [[5.5, 5.5]]
    assert module.run_method("scale", [2]) == 6
    assert module.find_method("scale") and not module.find_method("absent")
    with pytest.raises(RuntimeError, match="Method 'absent' is not defined."):
        module.run_method("absent")
    assert "aten::linear" in mobile._export_operator_list(module)


def test_what_an_archive_says_of_itself():
    assert mobile._get_model_bytecode_version(str(LITE)) == 8
    with LITE.open("rb") as file:
        found = mobile._get_model_ops_and_info(file)
    assert {name: info.num_schema_args for name, info in found.items()} == {
        "aten::linear": 3, "aten::relu": 1, "aten::add.Scalar": 2, "aten::__getitem__.t": 2, "aten::mul.int": 2,
    }  # fmt: skip


def test_archives_without_bytecode(tmp_path):
    path = tmp_path / "plain.pt"
    torch.jit.script(torch.nn.ReLU()).save(str(path))
    with pytest.raises(RuntimeError, match="failed locating file bytecode.pkl"):
        mobile._load_for_lite_interpreter(path)
    with pytest.raises(RuntimeError, match="failed locating file bytecode.pkl"):
        mobile._get_model_bytecode_version(path)
    with pytest.raises(ValueError, match="does not exist"):
        mobile._load_for_lite_interpreter(tmp_path / "absent")
    with pytest.raises(ValueError, match="is a directory"):
        mobile._get_model_bytecode_version(tmp_path)


def test_bytecode_that_is_none(tmp_path):
    calls = b"cos\nsystem\n(S'false'\ntR."  # a pickle that would call os.system
    for record in (calls, b"garbage", b"(t."):
        path = tmp_path / "bad.ptl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("bad/bytecode.pkl", record)
        with pytest.raises(RuntimeError, match=r"bytecode\.pkl"):
            mobile._get_model_bytecode_version(path)


@pytest.mark.parametrize("functions", [["f"], [("f",)], [("f", 3)], [("f", (3,))], [("f", (("operators", 3), ("types", 3)))], [("f", (("operators", (("a",),)), ("types", (b"",))))]])
def test_bytecode_whose_functions_are_none(tmp_path, functions):
    path = tmp_path / "bad.ptl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("bad/bytecode.pkl", pickle.dumps((8, *functions), 2))
    for question in (mobile._get_model_ops_and_info, mobile._get_mobile_model_contained_types):
        with pytest.raises(RuntimeError, match=r"bytecode\.pkl"):
            question(path)


def test_functions_of_the_library_take_paths_and_bytes():
    C = torch._C
    path, data = str(LITE), LITE.read_bytes()
    for module in (C._load_for_lite_interpreter(path, None), C._load_for_lite_interpreter_from_buffer(data, None)):
        assert isinstance(module, C.LiteScriptModule)
        assert module.forward((torch.tensor([[3.0, 4.0]]),)).tolist() == [[5.5, 5.5]]
        assert module.run_method("scale", ([2],)) == 6
        assert module.find_method("scale") and not module.find_method("absent")
        assert "aten::linear" in C._export_operator_list(module)
    assert C._get_model_bytecode_version(path) == C._get_model_bytecode_version_from_buffer(data) == 8
    assert set(C._get_model_ops_and_info(path)) == set(C._get_model_ops_and_info_from_buffer(data))
    with pytest.raises(RuntimeError, match="open file failed because of errno 2 on fopen"):
        C._load_for_lite_interpreter(path + ".none", None)
