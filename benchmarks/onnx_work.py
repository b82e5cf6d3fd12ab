"""A network in ONNX under an engine for it, as nets_work.py runs networks:

    python onnx_work.py ENGINE FILE

ENGINE is onnxruntime or openvino. FILE is what nets_work.py wrote; its input is in FILE.json. Without FILE it prints the engine's version.
"""

import importlib
import json
import sys

import numpy
from asked import answer


def onnxruntime(engine, file):
    options = engine.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = engine.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda x: session.run(None, {name: x})[0]


def openvino(engine, file):
    # In float32, and one request at a time, as all the others run.
    options = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32", "ENABLE_CPU_PINNING": False}
    request = engine.Core().compile_model(file, "CPU", options).create_infer_request()
    return lambda x: request.infer([x], share_inputs=True, share_outputs=True)[0]


def main():
    engine = importlib.import_module(sys.argv[1])
    if len(sys.argv) == 2:
        print(json.dumps(engine.__version__.split("-")[0]))
        return
    with open(sys.argv[2] + ".json") as given:
        values, dtype = json.load(given)
    x = numpy.array(values, dtype=dtype.split(".")[-1])
    f = {"onnxruntime": onnxruntime, "openvino": openvino}[sys.argv[1]](engine, sys.argv[2])
    for _ in range(5):
        f(x)
    for line in sys.stdin:
        print(json.dumps(answer(line.strip(), f, x, lambda y: y.reshape(-1)[:1000].tolist())), flush=True)


if __name__ == "__main__":
    main()
