"""torch.monitor: statistics are logged as events."""

import datetime

from torchjit import monitor
from torchjit.monitor import Stat

HOUR = datetime.timedelta(hours=1)


def logged(use):
    seen = []
    handle = monitor.register_event_handler(seen.append)
    try:
        use()
    finally:
        monitor.unregister_event_handler(handle)
    return [(e.name, e.data) for e in seen]


def test_statistic_is_logged_at_the_end():
    def use():
        with Stat("loss", list(monitor.Aggregation), HOUR) as stat:
            for v in (3, 1, 2):
                stat.add(v)
            assert stat.count == 3 and stat.name == "loss" and stat.get()[monitor.MEAN] == 2
        with Stat("nothing", [monitor.SUM], HOUR):
            pass

    values = {"loss.value": 2, "loss.mean": 2, "loss.count": 3, "loss.sum": 6, "loss.max": 3, "loss.min": 1}
    assert logged(use) == [("torch.monitor.Stat", values)]


def test_number_of_samples():
    def use():
        stat = Stat("a", [monitor.COUNT, monitor.SUM], datetime.timedelta(0), 2)
        for v in range(5):
            stat.add(v)
        assert stat.count == 1

    assert [d for _, d in logged(use)] == [{"a.count": 2, "a.sum": 1}, {"a.count": 2, "a.sum": 5}, {"a.count": 1, "a.sum": 4}]


def test_numbers_for_a_writer():
    class Writer(list):
        def add_scalar(self, name, value, walltime):
            self.append((name, value))

    writer = Writer()
    handle = monitor.register_event_handler(monitor.TensorboardEventHandler(writer))
    try:
        with Stat("x", [monitor.MEAN], HOUR) as stat:
            stat.add(4)
        monitor.log_event(monitor.Event("other", datetime.datetime(2020, 1, 1), {"y": 1}))
    finally:
        monitor.unregister_event_handler(handle)
    assert writer == [("x.mean", 4)]
