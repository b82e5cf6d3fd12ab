"""`import torch` as another name of the package, in an interpreter of its own."""

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

import torchjit
from torchjit import hub, nn, ops


def run(program, folder):
    path = os.pathsep.join([str(folder), str(pathlib.Path(torchjit.__file__).parent.parent)])
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.split("\n")


def test_libraries_that_import_torch(tmp_path):
    (tmp_path / "library.py").write_text("import torch\nfrom torch import nn\nimport torch.nn.functional as F\nfrom torch.nn.modules.utils import _pair\n")
    out = run(
        """
        import importlib, sys
        import torchjit
        before = torchjit.nn.__spec__
        torchjit.install_as_torch()
        torchjit.install_as_torch()
        import library
        print(library.torch is torchjit, library.nn is torchjit.nn, library.F is torchjit.nn.functional, torchjit.nn.__spec__ is before, library._pair(2))
        print(sys.modules["torch.nn"] is torchjit.nn, torchjit.__spec__.name, torchjit.nn.__spec__.name)
        import importlib.metadata
        print(importlib.metadata.version("torch") == torchjit.__version__, importlib.metadata.version("pytest") != torchjit.__version__)
        import copy, pickle
        p = library.nn.Parameter(torchjit.ones(2))
        print(type(p.data).__module__, type(p).__module__, torchjit.equal(pickle.loads(pickle.dumps(p)), copy.deepcopy(p)))
        print(library.torch.__name__, library.nn.__name__, [p.count("_metadata") for p in sys.path[:2]])
        try: import torch.nothing
        except ModuleNotFoundError as e: print(e.name, e)
        """,
        tmp_path,
    )
    assert out[:2] == ["True True True True (2, 2)", "True torchjit torchjit.nn"]
    assert out[2] == "True True"
    assert out[3] == "torch torch.nn.parameter True"
    assert out[4] == "torch torch.nn [0, 1]"
    assert out[5] == "torch.nothing No module named 'torch.nothing': torchjit, which stands for torch here, does not have it"


def test_it_can_be_too_late(tmp_path):
    (tmp_path / "torch.py").write_text("")
    out = run(
        """
        import torch, torchjit
        try: torchjit.install_as_torch()
        except ImportError as e: print(e)
        """,
        tmp_path,
    )
    assert out[0] == "install_as_torch() comes too late: PyTorch has been imported already"


def test_libraries_of_operators(tmp_path):
    ops.load_library(str(tmp_path / "torchvision" / "_C.so"))
    assert "nms" in dir(ops.torchvision)
    with pytest.raises(OSError, match="torchjit has no operators of 'other'"):
        ops.load_library(str(tmp_path / "other" / "_C.so"))


def test_one_device():
    assert nn.parallel.scatter_gather.scatter({"a": 1}, [0, 1]) == [{"a": 1}, {"a": 1}]
    assert nn.parallel.scatter_gather.scatter_kwargs((1,), None, [0]) == (((1,),), ({},))
    for f in (lambda x: nn.parallel.scatter([x], [0]), lambda x: nn.parallel.gather([x], 0)):
        with pytest.raises(RuntimeError, match="torchjit has the CPU alone"):
            f(torchjit.ones(2))
    from torchjit.nn.parallel.distributed import DistributedDataParallel

    assert DistributedDataParallel is nn.parallel.DistributedDataParallel


def test_names_of_what_is_not_there():
    from torchjit.distributed.algorithms.join import Join

    with pytest.raises(RuntimeError, match="works in one process"):
        Join([])
    assert torchjit.cuda.get_rng_state_all() == [] and torchjit.cuda.set_rng_state_all([]) is None
    assert not torchjit.profiler.kineto_available()
    assert not isinstance(torchjit.ones(2), torchjit.sparse.FloatTensor)


def test_progress_of_downloads(tmp_path, capsys):
    (tmp_path / "weights").write_bytes(bytes(1000))
    with hub._Progress(total=1000) as bar:
        bar.update(500)
    assert capsys.readouterr().err == "\r50.0%\n"
    hub.download_url_to_file((tmp_path / "weights").as_uri(), str(tmp_path / "copy"), progress=False)
    assert (tmp_path / "copy").stat().st_size == 1000
    assert capsys.readouterr().err == ""


def test_packages_that_import_their_own_modules_by_full_names(tmp_path):
    """The import system must not load such a package twice: its names would be in one of two modules."""
    package = tmp_path / "more" / "pack"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import torch.testing.pack.inner\n")
    (package / "inner.py").write_text("import torch.testing.pack\nclass Thing: pass\n")
    printed = run(
        """
        import torchjit
        torchjit.install_as_torch()
        import torch.testing
        torch.testing.__path__.append("more")
        import torch.testing.pack.inner
        import sys
        print(sys.modules["torch.testing.pack"] is sys.modules["torchjit.testing.pack"], torch.testing.pack.inner.Thing.__name__)
        import torch.quantization.quantization_mappings
        """,
        tmp_path,
    )
    assert printed[0] == "True Thing"
