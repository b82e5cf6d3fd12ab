"""Files from strangers: whatever is in them, loading gives tensors, data and programs, or an error, and does nothing else."""

import array
import collections
import io
import os
import pathlib
import pickle
import resource
import struct
import subprocess
import sys
import threading
import time
import warnings
import zipfile

import pytest

import torchjit as torch
from torchjit import nn

REFUSED = (RuntimeError, pickle.UnpicklingError)


def archive(data, records=(), **more):
    """A file of torch.save with the pickle `data` and records by name."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as z:
        for name, content in {"data.pkl": data, **dict(records), "version": b"3\n", **more}.items():
            z.writestr("a/" + name, content)
    file.seek(0)
    return file


def text(s):
    """BINUNICODE of s."""
    return b"X" + struct.pack("<I", len(s.encode())) + s.encode()


def name(module, attribute):
    return b"c" + module.encode() + b"\n" + attribute.encode() + b"\n"


def storage(kind="FloatStorage", key="0", count=b"K\x04"):
    return b"(" + text("storage") + name("torch", kind) + text(key) + text("cpu") + count + b"tQ"


def tensor(size=b"K\x04\x85", stride=b"K\x01\x85", offset=b"K\x00", **of_storage):
    return name("torch._utils", "_rebuild_tensor_v2") + b"(" + storage(**of_storage) + offset + size + stride + b"\x89" + ORDERED + b"tR"


ORDERED = name("collections", "OrderedDict") + b")R"
FOUR = struct.pack("<4f", 1, 2, 3, 4)


def changed(data, change):
    """An archive's bytes with the records that change(name, content) gives."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for n in old.namelist():
            content = change(n.partition("/")[2], old.read(n))
            if content is not None:
                new.writestr(n, content)
    out.seek(0)
    return out


# ---- pickles ----


def test_the_pieces_load():
    loaded = torch.load(archive(b"\x80\x02" + tensor() + b".", {"data/0": FOUR}))
    assert loaded.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "stream",
    [
        name("posix", "system") + b"(" + text("touch ran") + b"tR",
        name("builtins", "eval") + text("open('ran', 'w')") + b"\x85R",
        name("builtins", "getattr") + name("torch", "Tensor") + text("numpy") + b"\x86R",
        name("torch.nn.functional", "torch.utils.data.datapipes.datapipe._IterDataPipeSerializationWrapper") + b")\x81" + text("x") + b"b",
        name("torch.nn.modules.linear", "torch.hub.load") + b")R",
        name("torch.nn.modules.linear", "Linear.forward"),
        name("torch.nn.modules.linear", "math"),
        name("torch.nn.modules.linear", "Module"),  # is there by import, and defined elsewhere
        name("torch.nn.modules.linear", "Linear") + b"K\x02K\x02\x86R",  # an instance that is initialized
        name("torch.nn.modules.linear", "Linear") + b"K\x02\x85\x81",
        name("torch.fx.graph_module", "GraphModule") + b")\x81}b",
        name("torch.fx.graph_module", "reduce_graph_module") + b"}" + text("import os") + b"\x86R",
        name("torch.ao.quantization.fx.graph_module", "FusedGraphModule") + b")\x81}b",
        name("torch.package.package_importer", "PackageImporter") + text("x") + b"\x85R",
        name("torch.jit", "CompilationUnit") + text("def f(): pass") + b"\x85R",
        name("torch.optim.adam", "Adam") + b")\x81}b",
        name("torch", "ops"),
        name("torch", "load") + text("x") + b"\x85R",
        name("builtins", "range") + b"K\x00J\x00\x00\x00\x7f\x86R",
        name("builtins", "bytearray") + b"J\x00\x00\x00\x7f\x85R",
        name("builtins", "int") + text("9" * 100) + b"\x85R",
        name("collections", "defaultdict") + name("torch.nn.modules.linear", "Linear") + b"\x85R",
    ],
)
def test_pickles_name_what_is_on_a_list(stream, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for protocol in (b"\x80\x02", b"\x80\x04"):
        with pytest.raises(pickle.UnpicklingError):
            torch.load(archive(protocol + stream + b"."))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "target",
    [name("torch", "Tensor"), name("torch.nn.modules.linear", "Linear"), name("torch", "float32"), name("collections", "OrderedDict"), b"N", b"]", tensor()],
)
def test_states_are_set_of_new_instances_alone(target):
    state = b"N}" + text("__len__") + name("builtins", "int") + b"s\x86"
    with pytest.raises(pickle.UnpicklingError, match="sets the state of"):
        torch.load(archive(b"\x80\x02" + target + state + b"b.", {"data/0": FOUR}))
    assert len(torch.ones(3)) == 3


def test_modules_are_made_without_their_code():
    state = b"}" + text("training") + b"\x88s" + text("in_features") + b"K\x05s"
    loaded = torch.load(archive(b"\x80\x02" + name("torch.nn.modules.linear", "Linear") + b")\x81" + state + b"b."))
    assert type(loaded) is nn.Linear and loaded.__dict__ == {"training": True, "in_features": 5}


def test_classes_of_modules_are_those_of_torch_nn_modules():
    from torchjit.serialization import _module_rule

    found = {}
    for module in list(sys.modules):
        if module.startswith("torchjit."):
            names = vars(sys.modules[module])
            found.update({(module, n): x for n, x in names.items() if _module_rule("torch" + module[len("torchjit") :], n) is not None})
    assert len(found) > 100 and all(issubclass(c, nn.Module) and c.__module__ == module and c.__qualname__ == n for (module, n), c in found.items())
    assert {c.__setstate__.__qualname__ for c in found.values()} <= {"Module.__setstate__", "_SoftmaxOf.__setstate__"}
    assert not [c for c in found.values() if c.__new__ is not object.__new__ or hasattr(c, "__del__")]


def test_archives_of_programs_are_refused():
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(Restored()), file)
    file.seek(0)
    with pytest.raises(RuntimeError, match="weights_only=True with TorchScript archives"):
        torch.load(file)
    file.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.load(file, weights_only=False).n == 1


SEVEN = b"\x80\x02" + tensor(size=b"K\x02K\x02\x86", stride=b"K\x02K\x01\x86") + b"."


@pytest.mark.parametrize("n", range(len(SEVEN) - 1))
def test_pickles_that_are_cut_off(n):
    with pytest.raises((*REFUSED, EOFError)):
        torch.load(archive(SEVEN[:n], {"data/0": FOUR}))


@pytest.mark.parametrize(
    "stream",
    [
        b"\x80\x02hq.", b"\x80\x02K", b"\x80\x02X\xff\xff\xff\x7fa.", b"\x80\x02X\x01\x00\x00\x00\xff.", b"\x80\x02c\xff\n\xff\n.", b"\x80\x02t.", b"\x80\x02(.",
        b"\x80\x02K\x01K\x02.", b"\x80\x06N.", b"\x80\x02I1\n.", b"\x80\x02}]K\x01s.", b"\x80\x02}K\x01u.", b"\x80\x02}(K\x01u.", b"\x80\x02\x8b\xff\xff\xff\x7f.",
        b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7fN.", b"\x80\x02U\x01\xff.", b"\x80\x02Q.", b"\x80\x02NQ.", b"\x80\x02b.", b"\x80\x02NNR.", b"\x80\x020.", b"\x80\x02",
    ],
)  # fmt: skip
def test_damaged_pickles_are_errors_of_two_kinds(stream):
    with pytest.raises(REFUSED):
        torch.load(archive(stream))
    with pytest.raises(REFUSED):
        torch.load(io.BytesIO(pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2) + pickle.dumps({}, 2) + stream))


def test_keys_that_take_for_ever_to_hash():
    for stream in (b"N" + b"2\x86" * 60, b"N" + b"\x85" * 100000):
        with pytest.raises(pickle.UnpicklingError, match="more than 1000 parts"):
            torch.load(archive(b"\x80\x02}" + stream + b"K\x01s."))


@pytest.mark.parametrize(
    "keys",
    [
        b"".join(b"\x8a\x0b" + (k * (2**61 - 1)).to_bytes(11, "little") for k in range(1, 20001)),  # integers with the hash 0
        text("k" * 100000) + b"q\x010" + text("k" * 100000) + b"q\x020" + b"h\x01h\x02" * 1000,  # equal, and not the same
        b"N" * 900 + b"(" + b"N" * 900 + b"tq\x01" + b"h\x01" * 20000,
    ],
)
def test_keys_that_take_longer_than_their_number(keys):
    pairs = b"".join(b"\x8a\x0b" + (k * (2**61 - 1)).to_bytes(11, "little") + b"N" for k in range(1, 20001)) if keys[:1] == b"\x8a" else None
    streams = [b"](" + keys + b"e" + b"q\x0a0" + name("builtins", kind) + b"h\x0a\x85R" for kind in ("set", "frozenset")] + [b"(" + keys + b"\x91", b"\x8f(" + keys + b"\x90"]
    for stream in streams + ([b"}(" + pairs + b"u"] if pairs else []):
        start = time.process_time()
        with pytest.raises(pickle.UnpicklingError, match="longer to hash and to compare"):
            torch.load(archive(b"\x80\x04" + stream + b"."))
        assert time.process_time() - start < 2


def test_pickles_make_no_more_than_they_have():
    stream = b"\x80\x02](" + b"K\x05" * 20000 + b"eq\x000](" + (name("builtins", "set") + b"h\x00\x85R") * 1000 + b"e."
    with pytest.raises(pickle.UnpicklingError, match="larger than itself"):
        torch.load(archive(stream))


def test_containers_come_back():
    given = {
        "d": collections.defaultdict(list, {1: [2]}), "c": collections.Counter("aab"), "f": frozenset({1, (2, 3)}), "b": b"\x00\xff", "s": {1}, "l": slice(1, 2),
        "o": collections.OrderedDict(x=1), "big": 1 << 70, "neg": -(1 << 70), "deep": [[[{}]]], "text": "\ud800é", "n": -5, "bytes": bytearray(b"ab"),
    }  # fmt: skip
    for protocol in (2, 3, 4, 5):
        if protocol < 5:
            given.pop("bytes", None)  # bytearray is called in older protocols
        file = io.BytesIO()
        torch.save(dict(given, bytes=bytearray(b"ab")) if protocol == 5 else given, file, pickle_protocol=protocol)
        file.seek(0)
        loaded = torch.load(file)
        assert all(type(loaded[k]) is type(v) and loaded[k] == v for k, v in given.items())


# ---- sizes, storages, records ----


@pytest.mark.parametrize(
    "parts",
    [
        {"size": b"K\x05\x85"}, {"offset": b"K\x01"}, {"offset": b"J\xff\xff\xff\xff"}, {"size": b"J\xff\xff\xff\xff\x85"}, {"stride": b"K\x02\x85"},
        {"size": b"K\x02\x85", "stride": b"\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x60\x85"}, {"stride": b")"}, {"size": b"N"}, {"size": b"G" + bytes(8) + b"\x85"},
        {"size": b"\x8a\x09" + b"\xff" * 8 + b"\x00\x85", "stride": b"K\x00\x85"}, {"size": b"\x8a\x08" + b"\xff" * 7 + b"\x7f\x85", "stride": b"K\x00\x85"},
        {"size": b"(" + b"K\x02" * 70 + b"t", "stride": b"(" + b"K\x00" * 70 + b"t"}, {"count": b"K\x05"}, {"count": b"J\xff\xff\xff\xff"}, {"count": b"N"},
        {"count": b"\x8a\x09" + bytes(8) + b"\x01"}, {"key": "1"}, {"key": "../version"}, {"kind": "Tensor"}, {"kind": "QInt8Storage"},
    ],
)  # fmt: skip
def test_tensors_that_do_not_fit_their_storage(parts):
    with pytest.raises(REFUSED):
        torch.load(archive(b"\x80\x02" + tensor(**parts) + b".", {"data/0": FOUR}))


def test_big_numbers_first():
    order = torch.load(archive(b"\x80\x02" + tensor() + b".", {"data/0": struct.pack(">4f", 1, 2, 3, 4), "byteorder": b"big"}))
    assert order.tolist() == [1, 2, 3, 4]
    halves = torch.load(archive(b"\x80\x02" + tensor(kind="ComplexFloatStorage", size=b"K\x02\x85", count=b"K\x02") + b".", {"data/0": struct.pack(">4f", 1, 2, 3, 4), "byteorder": b"big"}))
    assert halves.tolist() == [1 + 2j, 3 + 4j]
    with pytest.raises(RuntimeError, match="Unknown endianness"):
        torch.load(archive(b"\x80\x02" + tensor() + b".", {"data/0": FOUR, "byteorder": b"middle"}))


def test_records_that_unpack_to_much():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("a/data.pkl", b"\x80\x02" + tensor(size=b"K\x04\x85") + b".")
        z.writestr("a/data/0", bytes(65 << 20))
    file.seek(0)
    tensors = torch.load(file)  # no more is read than is needed
    assert tensors.tolist() == [0] * 4
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("a/data.pkl", b"\x80\x02]" + bytes(65 << 20))
    file.seek(0)
    with pytest.raises(RuntimeError, match="which is more than is read"):
        torch.load(file)


def test_records_that_are_twice_there_or_have_unsafe_names():
    for names in (["a/data.pkl", "a/data.pkl"], ["a/data.pkl", "a/../b"], ["a/data.pkl", "a/x\\y"], ["a/data.pkl", "/etc/x"]):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as z, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for n in names:
                z.writestr(n, b"\x80\x02N.")
        for read in (torch.load, torch._C.PyTorchFileReader):
            file.seek(0)
            with pytest.raises(RuntimeError):
                read(file)


def test_old_files_that_announce_more_than_they_have():
    head = pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2) + pickle.dumps({}, 2)
    old = b"\x80\x02" + tensor(count=b"\x8a\x08" + bytes(5) + b"\x10\x00\x00", size=b"K\x04\x85").replace(b"\x10\x00\x00tQ", b"\x10\x00\x00NtQ") + b"."
    with pytest.raises(RuntimeError, match="have more bytes than the file"):
        torch.load(io.BytesIO(head + old + pickle.dumps(["0"], 2) + struct.pack("<q", 4) + FOUR))


# ---- exported programs ----


class Doubled(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return x * self.w + 1.5


def exported():
    file = io.BytesIO()
    torch.export.save(torch.export.export(Doubled(), (torch.ones(2),)), file)
    return file.getvalue()


def replaced(old, new):
    def change(name, content):
        if name != "program.json":
            return content
        assert old.encode() in content
        return content.replace(old.encode(), new.encode())

    return changed(exported(), change)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"target":"x"', '"target":"x=print(1)"'), ('"name":"x"', '"name":"x=print(1)"'), ('"name":"x"', '"name":"lambda"'), ('"target":"x"', '"target":"class"'),
        ('"name":"mul"', '"name":"mul\\nprint(1)"'), ('aten::mul.Tensor', 'aten::__class__.Tensor'), ('aten::mul.Tensor', '__class__::mro.__self__'),
        ('aten::mul.Tensor', 'higher_order::__init__'), ('"dtype":"float32"', '"dtype":"jit"'), ('"sizes":[2]', '"sizes":[-2]'), ('"sizes":[2]', '"sizes":[4611686018427387904,16]'),
        ('"strides":[1]', '"strides":[-1]'), ('"strides":[1]', '"strides":[1,1]'), ('[\\"x\\"]', '[\\"x=print(1)\\"]'), ('"target":"w"', '"target":"__class__"'), ('"w"', '"w\\u0000"'),
        ('"float":', '"dtype":'), ('"float":', '"int":'), ('"output"', '"call_function"'), ('"device":"cpu"', '"device":"x"'), ('"nodes":', '"knots":'),
    ],
)  # fmt: skip
def test_names_of_exported_programs(old, new, capsys):
    with pytest.raises((ValueError, RuntimeError)):
        torch.export.load(replaced(old, new))
    assert capsys.readouterr().out == ""


def test_the_code_of_graphs_has_names_that_are_names():
    graph = torch.fx.Graph()
    graph.output(graph.create_node("placeholder", "x=print(1)", name="x"))
    with pytest.raises(SyntaxError, match="not the name of a variable"):
        torch.fx.GraphModule(nn.Module(), graph)
    root = nn.Module()
    root.add_module('a"+b', nn.ReLU())
    graph = torch.fx.Graph()
    graph.output(graph.call_module('a"+b', (graph.placeholder("x"),)))
    assert torch.fx.GraphModule(root, graph)(torch.tensor(-1.0)).item() == 0


def test_frames_of_a_file_open_no_files(tmp_path):
    secret = tmp_path / "secret.py"
    secret.write_text("password\n")
    from torchjit.export._program import stack_trace

    assert "password" in stack_trace(f"{secret}(1): f")
    assert "password" not in stack_trace(f"{secret}(1): f", with_lines=False)


# ---- saving ----


def saves(tmp_path):
    """What saves each format to a path, and loads it, by the name of the format."""
    scripted, module = torch.jit.script(nn.Linear(2, 2)), {"w": torch.ones(2)}
    program = torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),))

    def package(path):
        with torch.package.PackageExporter(path) as e:
            e.save_pickle("p", "x.pkl", module)

    return {
        "torch.save": (lambda p: torch.save(module, p), torch.load), "jit": (scripted.save, torch.jit.load),
        "lite": (scripted._save_for_lite_interpreter, torch.jit.mobile._load_for_lite_interpreter),
        "pt2": (lambda p: torch.export.save(program, p), torch.export.load),
        "safetensors": (lambda p: torch.safetensors.save_file(module, p), torch.safetensors.load_file),
        "package": (package, lambda p: torch.package.PackageImporter(p).load_pickle("p", "x.pkl")),
        "onnx": (lambda p: torch.onnx.export(scripted, (torch.ones(1, 2),), p), lambda p: pathlib.Path(p).read_bytes()),
    }  # fmt: skip


FORMATS = ["torch.save", "jit", "lite", "pt2", "safetensors", "package", "onnx"]


@pytest.mark.parametrize("format", FORMATS)
def test_saving_keeps_links_and_modes(format, tmp_path):
    save, load = saves(tmp_path)[format]
    path, link, new = tmp_path / "file", tmp_path / "link", tmp_path / "new"
    path.write_bytes(b"old")
    path.chmod(0o600)
    link.symlink_to(path)
    save(str(link))
    assert link.is_symlink() and path.stat().st_mode & 0o777 == 0o600
    load(str(link))
    before = os.umask(0o027)
    try:
        save(str(new))
    finally:
        os.umask(before)
    assert new.stat().st_mode & 0o777 == 0o640
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "made")
    save(str(dangling))
    assert dangling.is_symlink() and (tmp_path / "made").is_file()
    save("/dev/null")
    assert sorted(os.listdir(tmp_path)) == ["dangling", "file", "link", "made", "new"]


@pytest.mark.parametrize("format", FORMATS)
def test_saving_to_a_pipe(format, tmp_path):
    save, load = saves(tmp_path)[format]
    pipe, path = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: path.write_bytes(pipe.read_bytes()))
    reader.start()
    save(str(pipe))
    reader.join()
    load(str(path))
    assert sorted(os.listdir(tmp_path)) == ["file", "pipe"]


@pytest.mark.parametrize("format", ["torch.save", "jit", "package"])
def test_saving_where_it_cannot_be(format, tmp_path):
    save, _ = saves(tmp_path)[format]
    with pytest.raises(RuntimeError, match=r"Parent directory .*missing does not exist"):
        save(str(tmp_path / "missing" / "file"))
    with pytest.raises(RuntimeError):
        save(str(tmp_path))


@pytest.mark.parametrize("format", ["torch.save", "jit", "safetensors", "package"])
def test_threads_that_save_to_one_path(format, tmp_path):
    save, load = saves(tmp_path)[format]
    path, errors = str(tmp_path / "file"), []
    save(path)

    def repeat(call):
        try:
            for _ in range(20):
                call(path)
        except Exception as e:
            errors.append(e)

    threads = [threading.Thread(target=repeat, args=(call,)) for call in (save, save, save, save, load, load, load, load)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == [] and os.listdir(tmp_path) == ["file"]


def test_a_process_that_ends_while_it_saves_leaves_nothing(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    code = "import os; from torchjit._archive import ReplacedFile; f = ReplacedFile('file'); f.file.write(b'half'); print(len(os.listdir()), flush=True); os._exit(0)"
    path = os.path.dirname(os.path.dirname(torch.__file__))
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True)
    if ran.stdout.strip() != "1":
        pytest.skip("files have names from the beginning on this file system")
    assert os.listdir(tmp_path) == ["file"] and (tmp_path / "file").read_bytes() == b"old"


# ---- files that change, and what loads keep ----


def linear(n=300):
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(nn.Linear(n, n)), file)
    return file.getvalue()


@pytest.mark.parametrize("change", ["cut", "written"])
def test_files_that_change_after_they_were_loaded(change, tmp_path):
    weights = {"w": torch.ones(300, 300)}
    program = torch.export.export(nn.Linear(300, 300), (torch.ones(1, 300),))
    (tmp_path / "jit").write_bytes(linear())
    torch.save(weights, tmp_path / "save")
    torch.safetensors.save_file(weights, tmp_path / "safe")
    torch.export.save(program, tmp_path / "pt2")
    module = torch.jit.load(tmp_path / "jit")
    before = module(torch.ones(1, 300)).detach().clone()
    loaded = [torch.load(tmp_path / "save")["w"], torch.safetensors.load_file(tmp_path / "safe")["w"], torch.export.load(tmp_path / "pt2").state_dict["weight"]]
    kept = [t.detach().clone() for t in loaded]
    opened = torch.safetensors.safe_open(tmp_path / "safe")
    for name in ("jit", "save", "safe", "pt2"):
        with open(tmp_path / name, "r+b") as file:
            if change == "cut":
                file.truncate(10)
            else:
                file.write(b"\xff" * os.path.getsize(tmp_path / name))
    assert torch.equal(module(torch.ones(1, 300)), before) and all(map(torch.equal, loaded, kept))
    if change == "cut":
        with pytest.raises(RuntimeError, match="became shorter"):
            opened.get_tensor("w")


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE") >> 20


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads the resident memory from /proc")
@pytest.mark.parametrize("kind", ["bytes", "file", "lite"])
def test_loads_are_released(kind, tmp_path):
    """In a process of its own: what others have left decides how much waits for the collector."""
    code = f"import test_untrusted_files; print(test_untrusted_files.growth_of_loads({kind!r}, {str(tmp_path / 'm.pt')!r}))"
    here = pathlib.Path(__file__).parent
    done = subprocess.run([sys.executable, "-c", code], cwd=here, env={**os.environ, "PYTHONPATH": str(here.parent)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 300


def growth_of_loads(kind, path):
    """By how many megabytes the resident memory grows in 100 loads of 9 MB, behind 80 others."""
    data = linear(1500)
    pathlib.Path(path).write_bytes(data)
    if kind == "lite":
        data = torch.jit.load(io.BytesIO(data))._save_to_buffer_for_lite_interpreter()
    load = torch.jit.mobile._load_for_lite_interpreter if kind == "lite" else torch.jit.load
    before = 0
    for i in range(180):
        if i == 80:
            before = resident()
        load(path if kind == "file" else io.BytesIO(data))
    return resident() - before


def program(value, before=b"\x80\x02", behind=b""):
    """An archive of a program with one object, the state of which the pickle `value` makes."""
    code = "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  a : Any\n  def forward(self: __torch__.M) -> int:\n    return 1\n"
    stream = before + name("__torch__", "M") + b")\x81}(" + value + b"ub" + behind + b"."
    return archive(stream, {"constants.pkl": b"\x80\x02).", "code/__torch__.py": code})


A = text("a")


def test_the_smallest_program_loads():
    assert torch.jit.load(program(A + b"\x8a\x08\x05" + bytes(7))).a == 5


@pytest.mark.parametrize(
    "parts, message",
    [
        ({"value": A + b"K\x05", "before": b""}, "Expected PROTO opcode at the start of pickle archive, found 99"),
        ({"value": A + b"K\x05", "before": b"\x80\x04"}, "Only Pickle protocol 2 is supported, found protocol = 4"),
        ({"value": A + b"K\x05", "before": b"\x80\x02\x95" + bytes(8)}, "opcode 0x95"),
        ({"value": A + b"\x8a\x01\x05"}, "Expected length to be 8, got 1"),
        ({"value": A + b"I01\n"}, "opcode 0x49"),
        ({"value": A + b"K\x05", "before": b"\x80\x02N"}, "Unpickler expected 1 element on the stack, but found 2"),
        ({"value": A + b"K\x05", "before": b"\x80\x02("}, "Unpickler expected 1 element on the stack, but found 2"),
        ({"value": A + b"K\x05", "behind": b"}(" + A + b"K\x06ub"}, "set twice"),
        ({"value": A + ORDERED + b"}b"}, "state is set in what is no object"),
    ],
)  # fmt: skip
def test_pickles_of_programs_are_read_strictly(parts, message):
    with pytest.raises(RuntimeError, match=f'The record "data.pkl" cannot be read: .*{message}'):
        torch.jit.load(program(**parts))


@pytest.mark.parametrize(
    "value, message",
    [
        (A + b"K\x05" + A + b"K\x06", "the entry 'a' twice"),
        (b"", "does not have the attribute 'a'"),
        (A + b"}(" + A + b"K\x05" + A + b"K\x06u", 'has the key "a" twice'),
        (A + b"}(K\x01K\x05J\x01\x00\x00\x00K\x06u", "has the key 1 twice"),
        (A + name("collections", "OrderedDict") + b"]\x85R", "is called with arguments"),
    ],
)
def test_states_of_programs_have_one_meaning(value, message):
    with pytest.raises(RuntimeError, match=f'The record "data.pkl".*{message}'):
        torch.jit.load(program(value))


def test_archives_of_programs_with_big_numbers_first():
    data = linear(3)
    expected = torch.jit.load(io.BytesIO(data)).weight

    def swap(name, content):
        if not name.startswith("data/"):
            return content
        numbers = array.array("I", content)
        numbers.byteswap()
        return numbers.tobytes()

    file = changed(data, swap)
    with zipfile.ZipFile(file, "a") as z:
        z.writestr(z.namelist()[0].partition("/")[0] + "/byteorder", b"big")
    assert torch.equal(torch.jit.load(io.BytesIO(file.getvalue())).weight, expected)
    with zipfile.ZipFile(file := io.BytesIO(data), "a") as z:
        z.writestr(z.namelist()[0].partition("/")[0] + "/byteorder", b"middle")
    with pytest.raises(RuntimeError, match="byteorder"):
        torch.jit.load(io.BytesIO(file.getvalue()))


LIMITED = """
import resource, sys
import torchjit as torch
with open("/proc/self/status") as f:
    used = int(f.read().split("VmSize:")[1].split()[0]) << 10
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), used + (1 << 30)))
for load in (torch.jit.load, torch.safetensors.load_file):
    try:
        load(sys.argv[1])
    except RuntimeError as e:
        print(e)
for _ in range(20):
    kept = torch.jit.load(sys.argv[2])
print(kept.weight.sum().item())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sets a limit of Linux")
def test_files_larger_than_the_limit_of_addresses(tmp_path):
    with open(tmp_path / "large.pt", "wb") as f:
        f.write(struct.pack("<Q", 100) + b"{" + b" " * 98 + b"}")
        f.truncate(1 << 30)
    layer = nn.Linear(4000, 4000)
    with torch.no_grad():
        layer.weight.fill_(1)
    torch.jit.script(layer).save(tmp_path / "m.pt")
    files = [str(tmp_path / "large.pt"), str(tmp_path / "m.pt")]
    done = subprocess.run([sys.executable, "-c", LIMITED, *files], capture_output=True, text=True, timeout=60)
    assert "large.pt cannot be read: " in done.stdout and "you tried to allocate 1073741824 bytes" in done.stdout, done.stdout + done.stderr[-500:]
    assert done.stdout.splitlines()[-1] == "16000000.0"


class Restored(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 1

    @torch.jit.export
    def __getstate__(self) -> int:
        return self.n

    @torch.jit.export
    def __setstate__(self, n: int):
        print("runs")
        self.n = n
        self.training = True

    def forward(self, x):
        return x


def test_code_of_programs_can_be_refused(tmp_path, capfd):
    module = torch.jit.script(nn.Sequential(Restored()))
    module.save(str(tmp_path / "m.pt"))
    for f in (tmp_path / "m.pt", io.BytesIO((tmp_path / "m.pt").read_bytes())):
        with pytest.raises(RuntimeError, match="__setstate__, and code of the archive is refused"):
            torch.jit.load(f, refuse_code=True)
    assert capfd.readouterr().out == ""
    torch.jit.load(tmp_path / "m.pt")
    assert capfd.readouterr().out == "runs\n"
    assert isinstance(torch.jit.load(io.BytesIO(linear(2)), refuse_code=True), torch.jit.ScriptModule)


class Hungry(nn.Module):
    """A state that takes memory in one way or another while it is restored."""

    def __init__(self, way: str):
        super().__init__()
        self.way = way
        self.kept = torch.zeros(2)

    @torch.jit.export
    def __getstate__(self) -> tuple[str, torch.Tensor]:
        return self.way, self.kept

    @torch.jit.export
    def __setstate__(self, state: tuple[str, torch.Tensor]):
        self.way, self.kept = state
        self.training = True
        text, numbers, tensors = "abcdefgh", [1, 2, 3, 4], [self.kept]
        if self.way == "one tensor":
            self.kept = torch.zeros(1 << 27)
        elif self.way == "text":
            for _ in range(30):
                text = text + text
        elif self.way == "a wide text":
            text = text.center(1 << 29)
        elif self.way == "a list":
            for _ in range(26):
                numbers = numbers + numbers
        elif self.way == "tensors":
            for _ in range(300):
                tensors.append(torch.zeros(1 << 18))
        elif self.way == "a fork":
            self.kept = torch.jit.wait(torch.jit.fork(torch.zeros, [1 << 27]))
        elif self.way == "items":
            for i in range(100_000_000):
                numbers.append(i)
        elif self.way == "waste":  # which is not kept
            for _ in range(300):
                text = (text + text)[:8] + str(torch.zeros(1 << 18).size(0))
                text = text[:8]
        self.training = len(text) + len(numbers) + len(tensors) > 0  # else nothing of this would be computed

    def forward(self, x):
        return x


off_the_heap = pytest.mark.skipif("guard" in os.environ.get("GOJIT_CHECK", ""), reason="the bound is one of the heap, and guarded memory is apart from it")


@pytest.mark.parametrize("way", ["one tensor", "text", "a wide text", "a list", pytest.param("tensors", marks=off_the_heap), "a fork", "items"])
def test_memory_of_code_of_programs_is_bounded(way):
    data = torch.jit.script(Hungry(way)).save_to_buffer()
    with pytest.raises(RuntimeError, match=r"__setstate__ of \S+Hungry takes more than the 100000000 bytes of memory that code of the archive may take"):
        torch.jit.load(io.BytesIO(data), code_memory=100_000_000)


def test_large_constants_are_made_when_they_are_wanted():
    """Compiling a short program makes no large tensors and texts."""
    code = "def f(n: int):\n    if n > 0:\n        return len('a'.center(1 << 29)), torch.zeros([1 << 28]).sum()\n    return 0, torch.zeros(1).sum()\n"
    memory, compiled = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, torch.jit.CompilationUnit(code)
    assert compiled.f(0)[0] == 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 100_000  # KB
    assert compiled.f(1)[0] == 1 << 29


def test_memory_that_code_of_programs_has_given_back_does_not_count():
    data = torch.jit.script(Hungry("waste")).save_to_buffer()
    assert torch.jit.load(io.BytesIO(data), code_memory=100_000_000).way == "waste"
    for bad in (0, -1):
        with pytest.raises(ValueError, match="code_memory is a number of bytes from 1 on"):
            torch.jit.load(io.BytesIO(data), code_memory=bad)


def test_memory_that_other_threads_take_does_not_count():
    data, over = torch.jit.script(Hungry("waste")).save_to_buffer(), threading.Event()

    def take() -> None:
        while not over.is_set():
            kept = [torch.zeros(1 << 22) for _ in range(20)]
            del kept

    other = threading.Thread(target=take)
    other.start()
    try:
        for _ in range(20):
            torch.jit.load(io.BytesIO(data), code_memory=100_000_000)
    finally:
        over.set()
        other.join()


@pytest.mark.parametrize(
    "old, new, message",
    [
        ('"bias", ]', '"training", ]', "Expecting parameter or buffer to have either None, Tensor or Optional\\[Tensor\\] type, but got: bool"),
        ("__buffers__ = []", '__buffers__ = ["training", ]', "Expecting parameter or buffer to have either None, Tensor"),
        ("__buffers__ = []", '__buffers__ = ["weight", ]', "The attribute 'weight' is both a parameter and a buffer"),
    ],
)
def test_parameters_of_programs_are_tensors(old, new, message):
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), file)

    def change(name, content):
        return content.replace(old.encode(), new.encode()) if name.endswith("linear.py") else content

    with pytest.raises(RuntimeError, match=message):
        torch.jit.load(changed(file.getvalue(), change))
