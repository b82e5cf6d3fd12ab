"""Runs a compiled model on batches in two worker processes of Dask: `pip install distributed`.

A compiled module is pickled as its archive, so Dask sends it to each worker once, like any other value.
"""

import os

from distributed import Client, LocalCluster

import torchjit as torch
from torchjit import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x):
        return torch.softmax(self.body(x), -1)


def predict(model, batch):
    """What a worker does with a batch: the answers, and which process gave them."""
    with torch.no_grad():
        return model(batch), os.getpid()


def main():
    model = torch.jit.script(Model()).eval()
    batches = [torch.randn(8, 16) for _ in range(64)]
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        sent = client.scatter(model, broadcast=True)
        answers = client.gather(client.map(predict, [sent] * len(batches), batches, pure=False))
    for batch, (answer, _) in zip(batches, answers):
        assert answer.allclose(model(batch))
    print(f"{len(batches)} batches by {len({process for _, process in answers})} processes; all agree")


if __name__ == "__main__":
    main()
