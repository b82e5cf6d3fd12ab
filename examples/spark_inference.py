"""Runs a compiled model on tables of Spark, in two ways: `mapInPandas` and `predict_batch_udf`. `pip install pyspark pandas pyarrow`.

The model is broadcast once, as its archive, and each Python worker loads it once. A worker runs an operation on one
thread, because Spark already runs as many workers as it has cores.
"""

import functools
import io
import os
import sys

import numpy
import pandas
from pyspark.ml.functions import predict_batch_udf
from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, FloatType

import torchjit as torch
from torchjit import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x):
        return torch.softmax(self.body(x), -1)


def archive_of(model):
    file = io.BytesIO()
    torch.jit.save(model, file)
    return file.getvalue()


def answers_to(model, rows):
    with torch.no_grad():
        return model(torch.from_numpy(rows)).numpy()


def by_map(sent, table):
    """Batches of rows as frames of pandas: what a batch is, is spark.sql.execution.arrow.maxRecordsPerBatch."""

    def predict(frames):
        torch.set_num_threads(1)
        model = torch.jit.load(io.BytesIO(sent.value))
        for frame in frames:
            frame["answer"] = list(answers_to(model, numpy.stack(frame["row"]).astype("float32")))
            yield frame

    return table.mapInPandas(predict, "id long, row array<float>, answer array<float>")


def by_function(sent, table):
    """A function of columns. It is made once in each Python worker and gets batches as arrays."""

    def make():
        torch.set_num_threads(1)
        return functools.partial(answers_to, torch.jit.load(io.BytesIO(sent.value)))

    predict = predict_batch_udf(make, return_type=ArrayType(FloatType()), batch_size=64, input_tensor_shapes=[[16]])
    return table.withColumn("answer", predict("row"))


def main():
    model = torch.jit.script(Model()).eval()
    rows = torch.randn(512, 16).numpy()
    want = answers_to(model, rows)
    os.environ["PYSPARK_PYTHON"] = sys.executable  # of the workers, which are on this machine
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "64")
        .getOrCreate()
    )
    sent = spark.sparkContext.broadcast(archive_of(model))
    table = spark.createDataFrame(pandas.DataFrame({"id": range(len(rows)), "row": list(rows)}), "id long, row array<float>").repartition(4)
    for way in (by_map, by_function):
        found = way(sent, table).toPandas().sort_values("id")
        assert len(found) == len(rows) and numpy.allclose(numpy.stack(found["answer"]), want, atol=1e-6)
        print(f"{way.__name__}: {len(found)} rows; all agree")
    spark.stop()


if __name__ == "__main__":
    main()
