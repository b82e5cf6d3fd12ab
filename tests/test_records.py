"""Archives record by record, and the check of schemas against operators."""

import io
import zipfile

import pytest

import torchjit as torch
from torchjit import _C


def test_records_round_trip(tmp_path):
    for target in (io.BytesIO(), str(tmp_path / "model.pt")):
        writer = _C.PyTorchFileWriter(target)
        writer.write_record("data/0", b"\x01\x02\x03\x04 and more", 4)
        writer.write_record("text", "words", 5)
        assert writer.get_all_written_records() == {"data/0", "text"}
        assert writer.archive_name() == ("model" if isinstance(target, str) else "archive")
        writer.write_end_of_file()
        reader = _C.PyTorchFileReader(target)
        assert reader.get_all_records() == ["data/0", "text", "version"]
        assert reader.get_record("text") == b"words" and reader.get_record("version") == b"3\n"
        assert reader.has_record("data/0") and not reader.has_record("0")
        stored = reader.get_storage_from_record("data/0", 2, torch.int16)
        assert stored.shape == (0,) and list(stored.storage()) == [0x201, 0x403]


def test_records_are_aligned():
    target = io.BytesIO()
    writer = _C.PyTorchFileWriter(target)
    for i in range(5):
        writer.write_record("x" * i + "y", b"z" * (i + 1), i + 1)
    writer.write_end_of_file()
    data = target.getvalue()
    for info in zipfile.ZipFile(target).infolist():
        name, extra = (int.from_bytes(data[info.header_offset + at : info.header_offset + at + 2], "little") for at in (26, 28))
        assert (info.header_offset + 30 + name + extra) % 64 == 0


def test_records_say_what_is_wrong(tmp_path):
    with pytest.raises(RuntimeError, match="errno 2"):
        _C.PyTorchFileReader(str(tmp_path / "none.pt"))
    with pytest.raises(RuntimeError, match="not a ZIP archive"):
        _C.PyTorchFileReader(io.BytesIO(b"words"))
    target = io.BytesIO()
    writer = _C.PyTorchFileWriter(target)
    with pytest.raises(RuntimeError, match="the record x has 2 bytes, not 3"):
        writer.write_record("x", b"ab", 3)
    writer.write_record("x", b"ab", 2)
    writer.write_end_of_file()
    reader = _C.PyTorchFileReader(target)
    with pytest.raises(RuntimeError, match="failed locating file y"):
        reader.get_record("y")
    with pytest.raises(RuntimeError, match="2 elements of torch.int16 take 4"):
        reader.get_storage_from_record("x", 2, torch.int16)


def test_schemas_are_checked_against_operators():
    def graph(body):
        return _C.parse_ir(f"graph(%x : Tensor, %y : Tensor):\n  %one : int = prim::Constant[value=1]()\n{body}  return (%r)\n")

    for body, name in (
        ("  %r : Tensor = aten::add(%x, %y, %one)\n", "add"),
        ("  %r : Tensor = aten::add_(%x, %y, %one)\n", "add_"),
        ("  %r : Tensor[] = aten::split(%x, %one, %one)\n", "split"),
        ("  %l : Tensor[] = prim::ListConstruct(%x, %y)\n  %r : Tensor = aten::cat(%l, %one)\n", "cat"),
    ):
        _C._jit_check_alias_annotation(graph(body), (torch.ones(2, 2), torch.ones(2, 2)), name)


def test_schemas_that_do_not_say_what_operators_do():
    library = torch.library.Library("record_checks", "DEF")
    library.define("same(Tensor x) -> Tensor")
    library.impl("same", lambda x: x.view(-1), "CPU")
    library.define("write(Tensor x) -> Tensor")
    library.impl("write", lambda x: x.add_(1).clone(), "CPU")
    for name, message in (("same", "a result of record_checks::same shares memory with x"), ("write", "record_checks::write writes its argument x")):
        graph = _C.parse_ir(f"graph(%x : Tensor):\n  %r : Tensor = record_checks::{name}(%x)\n  return (%r)\n")
        with pytest.raises(RuntimeError, match=message):
            _C._jit_check_alias_annotation(graph, (torch.ones(2, 2),), "record_checks::" + name)


def test_exceptions_of_programs():
    assert _C.JITException is torch.jit.Error
