"""torch.utils.data. Orders are those of PyTorch 1.13.1 for the same seed."""

import collections
import os
import signal

import numpy
import pytest

import torchjit as torch
from torchjit.utils import data
from torchjit.utils.data import DataLoader, TensorDataset
from torchjit.utils.data.datapipes.iter import FileLister, IterableWrapper
from torchjit.utils.data.graph import traverse_dps
from torchjit.utils.data.graph_settings import get_all_graph_pipes

# Machines with few processors.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


class Squares(data.Dataset):
    def __getitem__(self, i):
        if i == 13:
            raise KeyError("thirteen")
        return {"x": torch.tensor([i, i * i]), "name": str(i), "half": i / 2}

    def __len__(self):
        return 10


class Counting(data.IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = data.get_worker_info()
        step, start = (info.num_workers, info.id) if info else (1, 0)
        return iter(range(start, self.n, step))


def test_orders_are_pytorchs():
    torch.manual_seed(0)
    xs = TensorDataset(torch.arange(10), torch.arange(10) * 2)
    first = [x.tolist() for x, y in DataLoader(xs, batch_size=4, shuffle=True)]
    assert first == ORDER
    torch.manual_seed(0)
    assert [list(part.indices) for part in data.random_split(xs, [7, 3])] == SPLIT
    torch.manual_seed(0)
    assert list(data.WeightedRandomSampler([0.1, 0.9, 0.5], 6)) == WEIGHTED
    torch.manual_seed(0)
    assert list(data.RandomSampler(range(5), replacement=True, num_samples=6)) == REPLACED


@pytest.mark.parametrize("workers", [0, 2])
def test_batches(workers):
    loader = DataLoader(Squares(), batch_size=4, num_workers=workers)
    batches = list(loader)
    assert len(loader) == len(batches) == 3 and list(batches[2]) == ["x", "name", "half"]
    assert batches[2]["x"].tolist() == [[8, 64], [9, 81]] and batches[0]["name"] == ["0", "1", "2", "3"]
    assert batches[0]["half"].dtype == torch.float64
    assert len(list(DataLoader(Squares(), batch_size=4, drop_last=True, num_workers=workers))) == 2
    assert [b["name"] for b in DataLoader(Squares(), batch_size=None, num_workers=workers)][3] == "3"


def test_processes():
    loader = DataLoader(Squares(), batch_size=5, num_workers=2, multiprocessing_context="spawn")
    assert [b["x"][:, 0].tolist() for b in loader] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


class Dying(Squares):
    def __getitem__(self, i):
        os.kill(os.getpid(), signal.SIGKILL)


def test_processes_that_die_or_are_left():
    with pytest.raises(RuntimeError, match="is killed by signal: Killed"):
        list(DataLoader(Dying(), num_workers=1, multiprocessing_context="spawn"))
    batches = iter(DataLoader(Squares(), num_workers=1, multiprocessing_context="spawn"))
    (worker,) = batches._workers
    next(batches)
    worker.terminate()
    worker.join()
    assert worker.exitcode == 0


class Delegating(data.Dataset):
    def __init__(self, dataset):
        self.dataset, self.seen = dataset, 0

    def __getattr__(self, name):
        return getattr(self.dataset, name)

    def __getitem__(self, i):
        self.seen += 1
        return self.seen

    def __len__(self):
        return 6


def test_workers_have_datasets_of_their_own():
    """Copies are made without the dataset's methods, which may not work on one that is not made yet."""
    dataset = Delegating([])
    assert [b.item() for b in DataLoader(dataset, num_workers=2)] == [1, 1, 2, 2, 3, 3] and dataset.seen == 0
    assert [b.item() for b in DataLoader([1, 2], num_workers=1)] == [1, 2]


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_iterable_datasets(workers):
    found = [b.tolist() for b in DataLoader(Counting(10), batch_size=2, num_workers=workers)]
    assert sorted(sum(found, [])) == list(range(10))
    if workers <= 1:
        assert found == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]


@pytest.mark.parametrize("workers", [0, 2])
def test_errors_of_datasets_reach_the_caller(workers):
    with pytest.raises(KeyError, match="thirteen"):
        list(DataLoader(Squares(), batch_sampler=[[0], [13]], num_workers=workers))


def test_a_pass_that_is_left_early_ends_its_workers():
    batches = iter(DataLoader(Squares(), num_workers=2))
    next(batches)
    workers = batches._workers
    del batches
    assert not any(w.is_alive() for w in workers)


def test_combinations():
    both = TensorDataset(torch.arange(2)) + TensorDataset(torch.arange(3))
    assert len(both) == 5 and both[3][0] == 1 and both[-1][0] == 2
    Pair = collections.namedtuple("Pair", "a b")
    made = data.default_collate([Pair(1, 2.0), Pair(3, 4.0)])
    assert made.a.tolist() == [1, 3] and made.b.tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="equal size"):
        data.default_collate([[1], [1, 2]])
    with pytest.raises(ValueError, match="batch_sampler option is mutually exclusive"):
        DataLoader(Squares(), batch_size=2, batch_sampler=[[0]])


ORDER = [[6, 7, 1, 4], [2, 0, 9, 8], [3, 5]]
SPLIT = [[4, 1, 7, 5, 3, 9, 0], [8, 6, 2]]
WEIGHTED = [2, 2, 1, 2, 1, 2]
REPLACED = [1, 0, 4, 3, 4, 0]


def test_workers_share_data_pipes():
    source = IterableWrapper(range(10))
    torch.manual_seed(3)
    pipe = source.shuffle().sharding_filter().map(str)
    assert list(DataLoader(pipe, batch_size=None, num_workers=2)) == ["1", "2", "9", "7", "0", "8", "6", "5", "3", "4"]
    assert list(DataLoader(source.batch(5), batch_size=None, num_workers=2))[::2] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def test_graphs_of_data_pipes():
    source = IterableWrapper(range(4))
    first, second = source.shuffle().fork(2)
    pipes = get_all_graph_pipes(traverse_dps(first.zip(second.map(str))))
    assert [type(p).__name__ for p in pipes].count("ShufflerIterDataPipe") == 1 and source in pipes
    with pytest.warns(UserWarning, match="does not contain a `Shuffler`"):
        assert sorted(DataLoader(source, batch_size=None, shuffle=True)) == [0, 1, 2, 3]


def test_files(tmp_path):
    for name in ("b.txt", "a.txt", "c.bin"):
        (tmp_path / name).write_text(name)
    listed = FileLister(str(tmp_path), "*.txt")
    assert [path.rpartition("/")[2] for path in listed] == ["a.txt", "b.txt"]
    for path, file in listed.open_files(mode="b"):
        assert file.read().decode() == path.rpartition("/")[2]
    with pytest.raises(ValueError, match="Invalid mode w"):
        listed.open_files(mode="w")


class Point:
    def __init__(self, x):
        self.x = x


def points(batch, *, collate_fn_map=None):
    return torch.tensor([p.x for p in batch])


def test_classes_of_their_own_in_batches(monkeypatch):
    """The answers are PyTorch's."""
    collate = data._utils.collate
    made = collate.collate([{"a": Point(1), "b": "s"}, {"a": Point(2), "b": "t"}], collate_fn_map={Point: points, **collate.default_collate_fn_map})
    assert made["a"].tolist() == [1, 2] and made["b"] == ["s", "t"]
    assert [t.tolist() for t in data.default_collate([range(2), range(2)])] == [[0, 0], [1, 1]]
    monkeypatch.setitem(collate.default_collate_fn_map, Point, points)
    assert data.default_collate([(Point(3),)])[0].tolist() == [3]
    with pytest.raises(TypeError, match="found <class 'object'>"):
        data.default_collate([object()])
    with pytest.raises(TypeError, match="found <U1"):
        data.default_collate([numpy.array("a")])
    assert data.default_collate([numpy.float32(1), numpy.float32(2)]).dtype == torch.float32


def test_samplers_of_several_processes():
    """The answers are PyTorch's."""
    s = data.DistributedSampler(list(range(10)), 3, 1)
    assert (list(s), len(s)) == ([1, 3, 8, 4], 4)
    s.set_epoch(1)
    assert list(s) == [6, 0, 3, 5]
    assert list(data.DistributedSampler(list(range(10)), 3, 1, shuffle=False, drop_last=True)) == [1, 4, 7]
    assert list(data.DistributedSampler([1, 2], 7, 6, shuffle=False)) == [0]
    with pytest.raises(ValueError, match=r"Invalid rank 3, rank should be in the interval \[0, 2\]"):
        data.DistributedSampler([1], 3, 3)
    with pytest.raises(RuntimeError, match="give num_replicas and rank"):
        data.DistributedSampler([1])


def test_annotations_of_loaders():
    assert data.DataLoader[int].__origin__ is data.DataLoader
