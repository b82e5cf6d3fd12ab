"""The rows that training.py compares. It runs under PyTorch and under torchjit alike:

    python training_work.py MODULE

It answers each line of its input with a line of JSON: an empty one with the names of the rows, a name with the nanoseconds of a step.
"""

import importlib
import json
import sys
import time

torch = importlib.import_module(sys.argv[1])
nn = importlib.import_module(sys.argv[1] + ".nn")
F = importlib.import_module(sys.argv[1] + ".nn.functional")
optim = importlib.import_module(sys.argv[1] + ".optim")


class LanguageModel(nn.Module):
    """An LSTM or a transformer over tokens."""

    def __init__(self, recurrent):
        super().__init__()
        self.embedding, self.recurrent = nn.Embedding(1000, 128), recurrent
        layer = None if recurrent else nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
        self.body = nn.LSTM(128, 128, 2, batch_first=True) if recurrent else nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(128, 1000)

    def forward(self, tokens):
        x = self.body(self.embedding(tokens))
        return self.head(x[0] if self.recurrent else x).flatten(0, 1)


def convolutional():
    def stage(inputs, outputs, stride):
        return [nn.Conv2d(inputs, outputs, 3, stride, 1), nn.BatchNorm2d(outputs), nn.ReLU()]

    layers = [*stage(3, 32, 1), nn.MaxPool2d(2), *stage(32, 64, 1), nn.MaxPool2d(2), *stage(64, 128, 2)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10))


def perceptron(inputs, hidden):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Dropout(0.1), nn.Linear(hidden, hidden), nn.GELU(), nn.Linear(hidden, 10))


def training(model, optimizer, x, y):
    loss = nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad()
        loss(model(x), y).backward()
        optimizer.step()

    return step


def inference(model, x):
    model.eval()

    def step():
        with torch.no_grad():
            model(x)

    return step


def gradient(f, *shapes):
    """The value and the gradients of f by leaves of these shapes."""
    leaves = [torch.randn(*shape).requires_grad_() for shape in shapes]
    given = torch.randn(f(*leaves).shape)

    def step():
        for x in leaves:
            x.grad = None
        f(*leaves).backward(given)

    return step


def written(x):
    y = x * 1
    y[0] = 0.0
    y[:, 3] = 2.0
    return y.mul_(2.0).relu_()


def gradients():
    """Gradients of single operators."""
    tokens, i = torch.randint(0, 1000, (8, 32)), torch.randint(0, 1000, (100,))
    yield "convolution", gradient(lambda x, w: F.conv2d(x, w, None, 1, 1), (8, 32, 32, 32), (64, 32, 3, 3))
    yield "convolution by steps", gradient(lambda x, w: F.conv2d(x, w, None, 2, 1), (8, 64, 16, 16), (128, 64, 3, 3))
    yield "convolution by channels", gradient(lambda x, w: F.conv2d(x, w, None, 1, 1, 1, 64), (8, 64, 16, 16), (64, 1, 3, 3))
    yield "max_pool2d", gradient(lambda x: F.max_pool2d(x, 2), (8, 32, 32, 32))
    yield "embedding", gradient(lambda w: F.embedding(tokens, w), (1000, 128))
    yield "embedding_bag", gradient(lambda w: F.embedding_bag(tokens, w), (1000, 128))
    yield "x[i]", gradient(lambda x: x[i], (1000, 1000))
    yield "x[0]", gradient(lambda x: x[0], (1000, 1000))
    yield "x.gather(1, i)", gradient(lambda x: x.gather(1, i[:, None]), (1000, 1000))
    yield "x.sum(1)", gradient(lambda x: x.sum(1), (1000, 1000))
    yield "relu", gradient(F.relu, (1000, 1000))
    yield "leaky_relu", gradient(F.leaky_relu, (1000, 1000))
    yield "mse_loss", gradient(F.mse_loss, (1000, 1000), (1000, 1000))
    yield "pad", gradient(lambda x: F.pad(x, (1, 1)), (1000, 1000))
    yield "writes in place", gradient(written, (1000, 1000))


def rows():
    images, labels = torch.randn(16, 3, 32, 32), torch.randint(0, 10, (16,))
    tokens, following = torch.randint(0, 1000, (8, 32)), torch.randint(0, 1000, (8 * 32,))
    cnn, tiny, wide = convolutional(), perceptron(8, 16), perceptron(256, 512)
    lstm, transformer = LanguageModel(True), LanguageModel(False)
    yield "train a CNN, SGD", training(cnn, optim.SGD(cnn.parameters(), 0.01, momentum=0.9), images, labels)
    yield "train a tiny perceptron, SGD", training(tiny, optim.SGD(tiny.parameters(), 0.01), torch.randn(4, 8), labels[:4])
    yield "train a perceptron, Adam", training(wide, optim.Adam(wide.parameters()), torch.randn(64, 256), torch.randint(0, 10, (64,)))
    yield "train an LSTM, Adam", training(lstm, optim.Adam(lstm.parameters()), tokens, following)
    yield "train a transformer, AdamW", training(transformer, optim.AdamW(transformer.parameters()), tokens, following)
    for name, step in gradients():
        yield f"gradient of {name}", step
    yield "run a CNN", inference(convolutional(), images)
    yield "run an LSTM", inference(LanguageModel(True), tokens)
    yield "run a transformer", inference(LanguageModel(False), tokens)


def best(step, seconds=1.0):
    """The quarter of the steps of about a second that is fastest takes at most so many nanoseconds each."""
    for _ in range(2):
        step()
    times, begin = [], time.perf_counter()
    while time.perf_counter() - begin < seconds or len(times) < 5:
        start = time.perf_counter_ns()
        step()
        times.append(time.perf_counter_ns() - start)
    return sorted(times)[len(times) // 4]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    steps = dict(rows())
    for line in sys.stdin:
        print(json.dumps(best(steps[line[:-1]]) if line != "\n" else list(steps)), flush=True)


main()
