"""Runs a compiled model with Ray, in four ways: tasks, actors, Ray Data and Ray Serve. `pip install "ray[data,serve]"`.

A compiled module is pickled as its archive, so Ray sends it to a process like any other value: `ray.put` once, then by
reference. A worker runs one operation on one thread, because Ray already runs as many workers as there are processors.
"""

import json
import os
import urllib.request

import numpy
import ray
from ray import serve

import torchjit as torch
from torchjit import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x):
        return torch.softmax(self.body(x), -1)


def answers_to(model, rows):
    """The answers to an array of rows, as an array."""
    with torch.no_grad():
        return model(torch.from_numpy(rows)).numpy()


@ray.remote
def predict(model, rows):
    """A task: any free process takes it."""
    torch.set_num_threads(1)
    return answers_to(model, rows), os.getpid()


class Predictor:
    """Keeps the model in a process: one actor of `ray.remote(Predictor)`, or one of `map_batches`."""

    def __init__(self, model):
        torch.set_num_threads(1)
        self.model = model

    def predict(self, rows):
        return answers_to(self.model, rows), os.getpid()

    def __call__(self, batch):
        batch["answer"] = answers_to(self.model, batch["data"])
        return batch


@serve.deployment(num_replicas=1)
class Service:
    """Answers POST of a JSON list of rows; calls that come together run as one batch."""

    def __init__(self, model):
        torch.set_num_threads(1)
        self.model = model

    @serve.batch(max_batch_size=16, batch_wait_timeout_s=0.01)
    async def predict(self, requests):
        rows = numpy.concatenate(requests)
        ends = numpy.cumsum([len(request) for request in requests])[:-1]
        return [part.tolist() for part in numpy.split(answers_to(self.model, rows), ends)]

    async def __call__(self, request):
        return await self.predict(numpy.asarray(await request.json(), "float32"))


def by_tasks(model, batches):
    sent = ray.put(model)
    return ray.get([predict.remote(sent, batch) for batch in batches])


def by_actors(model, batches, count=2):
    sent = ray.put(model)
    actors = [ray.remote(Predictor).remote(sent) for _ in range(count)]
    return ray.get([actors[i % count].predict.remote(batch) for i, batch in enumerate(batches)])


def by_data(model, rows):
    table = ray.data.from_numpy(rows)
    done = table.map_batches(Predictor, fn_constructor_args=(model,), compute=ray.data.ActorPoolStrategy(size=1), batch_size=32)
    found = done.take_all()
    return numpy.stack([row["data"] for row in found]), numpy.stack([row["answer"] for row in found])


def by_serve(model, batches, port=8123):
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    serve.run(Service.bind(model))
    answers = []
    for batch in batches:
        request = urllib.request.Request(f"http://127.0.0.1:{port}/", json.dumps(batch.tolist()).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as response:
            answers.append(numpy.asarray(json.load(response), "float32"))
    return answers


def main():
    model = torch.jit.script(Model()).eval()
    rows = torch.randn(512, 16).numpy()
    batches = numpy.split(rows, 16)
    want = [answers_to(model, batch) for batch in batches]
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    for way in (by_tasks, by_actors):
        found = way(model, batches)
        assert all(numpy.allclose(a, b, atol=1e-6) for (a, _), b in zip(found, want))
        print(f"{way.__name__}: {len(batches)} batches in {len({process for _, process in found})} processes")
    took, answers = by_data(model, rows)
    assert len(took) == len(rows) and numpy.allclose(answers, answers_to(model, took), atol=1e-6)
    print(f"by_data: {len(took)} rows")
    assert all(numpy.allclose(a, b, atol=1e-6) for a, b in zip(by_serve(model, batches[:4]), want))
    print("by_serve: 4 requests; all agree")
    ray.shutdown()  # and with it Serve


if __name__ == "__main__":
    main()
