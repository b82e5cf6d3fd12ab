"""Small models that tests quantize."""

from typing import Any, Optional

import torchjit as torch
import torchjit.nn as nn
import torchjit.nn.functional as F
from torchjit.ao.nn.quantized import FloatFunctional
from torchjit.ao.quantization import (
    DeQuantStub,
    QConfig,
    QuantStub,
    QuantWrapper,
    default_dynamic_qconfig,
    default_embedding_qat_qconfig,
    default_qconfig,
    default_symmetric_qnnpack_qat_qconfig,
    get_default_qat_qconfig,
    get_default_qconfig,
    per_channel_dynamic_qconfig,
)

# ruff: noqa: D102, UP045 - the models are compiled, and say what they are.


class _OfVectors(nn.Module):
    """A model of vectors of five numbers."""

    def get_example_inputs(self) -> Any:
        """Arguments of a call."""
        return (torch.rand(1, 5),)


class _OfImages(nn.Module):
    """A model of images of three channels."""

    def get_example_inputs(self) -> Any:
        """Arguments of a call."""
        return (torch.rand(1, 3, 5, 5),)


def _conv(cin: int, cout: int, size: Any, **options: Any) -> nn.Conv2d:
    return nn.Conv2d(cin, cout, size, **options).to(dtype=torch.float)


# Linear layers.


class SingleLayerLinearModel(_OfVectors):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(5, 5)

    def forward(self, x):
        return self.fc1(x)


class AnnotatedSingleLayerLinearModel(_OfVectors):
    def __init__(self, qengine="fbgemm"):
        super().__init__()
        self.qconfig = get_default_qconfig(qengine)
        self.fc1 = QuantWrapper(nn.Linear(5, 5))

    def forward(self, x):
        return self.fc1(x)


class SingleLayerLinearDynamicModel(_OfVectors):
    def __init__(self, qengine="fbgemm"):
        super().__init__()
        self.qconfig = get_default_qconfig(qengine)
        self.fc1 = nn.Linear(5, 5)

    def forward(self, x):
        return self.fc1(x)


class TwoLayerLinearModel(_OfVectors):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(5, 8)
        self.fc2 = nn.Linear(8, 5)

    def forward(self, x):
        return self.fc2(self.fc1(x))


class AnnotatedTwoLayerLinearModel(_OfVectors):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(5, 8)
        self.fc2 = QuantWrapper(nn.Linear(8, 5))
        self.fc2.qconfig = get_default_qconfig("fbgemm")

    def forward(self, x):
        return self.fc2(self.fc1(x))


class LinearAddModel(TwoLayerLinearModel):
    def forward(self, x):
        return self.fc2(torch.add(self.fc1(x), 5))


class LinearReluModel(_OfVectors):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 5)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.fc(x))


class LinearReluLinearModel(_OfVectors):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(5, 8)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(8, 5)

    def forward(self, x):
        return self.fc2(self.relu(self.fc1(x)))


class LinearReluAddModel(_OfVectors):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(5, 5)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(5, 5)

    def forward(self, x):
        return self.fc2(torch.add(self.relu(self.fc1(x)), 5))


class LinearModelWithSubmodule(_OfVectors):
    def __init__(self):
        super().__init__()
        self.subm = TwoLayerLinearModel()
        self.fc = nn.Linear(5, 5)

    def forward(self, x):
        return self.fc(self.subm(x))


class FunctionalLinear(_OfVectors):
    def __init__(self):
        super().__init__()
        self.weight = torch.rand((5, 5))
        self.bias = torch.zeros(5)

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


class SingleLayerFunctionalLinearModel(_OfVectors):
    def __init__(self):
        super().__init__()
        self.linear1 = FunctionalLinear()

    def forward(self, x):
        return self.linear1(x)


class TwoLayerFunctionalLinearModel(_OfVectors):
    def __init__(self):
        super().__init__()
        self.linear1 = FunctionalLinear()
        self.linear2 = FunctionalLinear()

    def forward(self, x):
        return self.linear2(self.linear1(x))


class FunctionalLinearAddModel(TwoLayerFunctionalLinearModel):
    def forward(self, x):
        return self.linear2(torch.add(self.linear1(x), 5))


class FunctionalLinearReluModel(_OfVectors):
    def __init__(self):
        super().__init__()
        self.linear = FunctionalLinear()

    def forward(self, x):
        return F.relu(self.linear(x))


class FunctionalLinearReluLinearModel(_OfVectors):
    def __init__(self):
        super().__init__()
        self.linear1 = FunctionalLinear()
        self.relu = nn.ReLU()
        self.linear2 = FunctionalLinear()

    def forward(self, x):
        return self.linear2(self.relu(self.linear1(x)))


# Convolutions.


class ConvModel(_OfImages):
    def __init__(self):
        super().__init__()
        self.conv = _conv(3, 5, 3, bias=False)

    def forward(self, x):
        return self.conv(x)


class ConvTransposeModel(_OfImages):
    def __init__(self):
        super().__init__()
        self.conv = nn.ConvTranspose2d(3, 5, 3, bias=False)

    def forward(self, x):
        return self.conv(x)


class AnnotatedConvModel(_OfImages):
    def __init__(self, qengine):
        super().__init__()
        self.qconfig = get_default_qconfig(qengine)
        self.conv = _conv(3, 5, 3, bias=False)
        self.quant = QuantStub()
        self.dequant = DeQuantStub()

    def forward(self, x):
        return self.dequant(self.conv(self.quant(x)))


class AnnotatedConvTransposeModel(_OfImages):
    def __init__(self, qengine):
        super().__init__()
        self.qconfig = get_default_qconfig(qengine)
        self.conv = nn.ConvTranspose2d(3, 5, 3, bias=False)
        self.quant = QuantStub()
        self.dequant = DeQuantStub()

    def forward(self, x):
        return self.dequant(self.conv(self.quant(x)))


class ConvBnModel(_OfImages):
    def __init__(self):
        super().__init__()
        self.conv = _conv(3, 5, 3, bias=False)
        self.bn = nn.BatchNorm2d(5)

    def forward(self, x):
        return self.bn(self.conv(x))


class AnnotatedConvBnModel(_OfImages):
    def __init__(self):
        super().__init__()
        self.qconfig = default_qconfig
        self.conv = _conv(3, 5, 3, bias=False)
        self.bn = nn.BatchNorm2d(5)
        self.quant = QuantStub()
        self.dequant = DeQuantStub()

    def forward(self, x):
        return self.dequant(self.bn(self.conv(self.quant(x))))


class ConvBnReLUModel(_OfImages):
    def __init__(self):
        super().__init__()
        self.conv = _conv(3, 5, 3, bias=False)
        self.bn = nn.BatchNorm2d(5)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.bn(self.conv(x)))


class AnnotatedConvBnReLUModel(_OfImages):
    def __init__(self, qengine="fbgemm"):
        super().__init__()
        self.qconfig = get_default_qconfig(qengine)
        self.conv = _conv(3, 5, 3, bias=False)
        self.bn = nn.BatchNorm2d(5)
        self.relu = nn.ReLU(inplace=True)
        self.quant = QuantStub()
        self.dequant = DeQuantStub()

    def forward(self, x):
        return self.dequant(self.relu(self.bn(self.conv(self.quant(x)))))

    def fuse_model(self):
        """Joins the three layers."""
        names = [["conv", "bn", "relu"]]
        fuse = torch.ao.quantization.fuse_modules_qat if self.training else torch.ao.quantization.fuse_modules
        fuse(self, names, inplace=True)


class TwoLayerConvModel(_OfImages):
    def __init__(self):
        super().__init__()
        self.conv1 = _conv(3, 5, 3, bias=False)
        self.conv2 = _conv(5, 5, 1, bias=False)

    def forward(self, x):
        return self.conv2(self.conv1(x))


class ConvReluModel(_OfImages):
    def __init__(self):
        super().__init__()
        self.fc = _conv(3, 5, 3)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.fc(x))


class ConvReluConvModel(_OfImages):
    def __init__(self):
        super().__init__()
        self.fc1 = _conv(3, 5, 3)
        self.relu = nn.ReLU()
        self.fc2 = _conv(5, 5, 1)

    def forward(self, x):
        return self.fc2(self.relu(self.fc1(x)))


class ConvReluAddModel(ConvReluConvModel):
    def forward(self, x):
        return self.fc2(torch.add(self.relu(self.fc1(x)), 5))


class FunctionalConv2d(_OfImages):
    def __init__(self):
        super().__init__()
        self.weight = torch.rand(3, 3, 3, 3)
        self.bias = torch.rand(3)
        self.stride = (1, 1)
        self.padding = (0, 0)
        self.dilation = (1, 1)
        self.groups = 1

    def forward(self, x):
        return F.conv2d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class SingleLayerFunctionalConvModel(_OfImages):
    def __init__(self):
        super().__init__()
        self.conv1 = FunctionalConv2d()

    def forward(self, x):
        return self.conv1(x)


class TwoLayerFunctionalConvModel(_OfImages):
    def __init__(self):
        super().__init__()
        self.conv1 = FunctionalConv2d()
        self.conv2 = FunctionalConv2d()

    def forward(self, x):
        return self.conv2(self.conv1(x))


class FunctionalConvReluModel(_OfImages):
    def __init__(self):
        super().__init__()
        self.conv = FunctionalConv2d()

    def forward(self, x):
        return F.relu(self.conv(x))


class FunctionalConvReluConvModel(_OfImages):
    def __init__(self):
        super().__init__()
        self.conv1 = FunctionalConv2d()
        self.relu = nn.ReLU()
        self.conv2 = FunctionalConv2d()

    def forward(self, x):
        return self.conv2(self.relu(self.conv1(x)))


# Modules in modules.


class NestedModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.sub1 = LinearReluModel()
        self.sub2 = TwoLayerLinearModel()
        self.fc3 = nn.Linear(5, 5)

    def forward(self, x):
        return self.fc3(self.sub2(self.sub1(x)))


class AnnotatedNestedModel(NestedModel):
    def __init__(self, qengine):
        super().__init__()
        self.fc3 = QuantWrapper(self.fc3)
        self.fc3.qconfig = default_qconfig
        self.sub2.fc1 = QuantWrapper(self.sub2.fc1)
        self.sub2.fc1.qconfig = per_channel_dynamic_qconfig if qengine == "fbgemm" else default_qconfig

    def forward(self, x):
        return self.fc3(self.sub2(self.sub1(x)))


class AnnotatedSubNestedModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.sub1 = LinearReluModel()
        self.sub2 = QuantWrapper(TwoLayerLinearModel())
        self.fc3 = QuantWrapper(nn.Linear(5, 5))
        self.fc3.qconfig = default_qconfig
        self.sub2.qconfig = default_qconfig

    def forward(self, x):
        return self.fc3(self.sub2(self.sub1(x)))


class AnnotatedCustomConfigNestedModel(NestedModel):
    def __init__(self):
        super().__init__()
        self.fc3.qconfig = default_qconfig
        self.sub2.qconfig = default_qconfig
        options = {"dtype": torch.quint8, "qscheme": torch.per_tensor_affine}
        custom = QConfig(
            activation=torch.ao.quantization.default_observer.with_args(**options), weight=torch.ao.quantization.default_weight_observer
        )
        self.sub2.fc1.qconfig = custom
        self.sub2.fc1 = QuantWrapper(self.sub2.fc1)
        self.sub2.fc2 = QuantWrapper(self.sub2.fc2)
        self.fc3 = QuantWrapper(self.fc3)

    def forward(self, x):
        return self.fc3(self.sub2(self.sub1(x)))


class QuantSubModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.sub1 = LinearReluModel()
        self.sub2 = QuantWrapper(TwoLayerLinearModel())
        self.sub2.qconfig = default_qconfig
        self.fc3 = nn.Linear(5, 5)
        self.fc3.qconfig = default_qconfig

    def forward(self, x):
        return self.fc3(self.sub2(self.sub1(x)))


class InnerModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(5, 8)
        self.relu1 = nn.ReLU()
        self.fc2 = nn.Linear(8, 5)
        self.relu2 = nn.ReLU()

    def forward(self, x):
        return self.relu2(self.fc2(self.relu1(self.fc1(x))))

    def fuse_modules(self):
        """Joins layers with the rectifiers behind them."""
        fuse = torch.ao.quantization.fuse_modules_qat if self.training else torch.ao.quantization.fuse_modules
        fuse(self, [["fc1", "relu1"], ["fc2", "relu2"]], inplace=True)


class SkipQuantModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.sub = InnerModule()
        self.fc = nn.Linear(5, 5)

    def forward(self, x):
        return self.fc(self.sub(x))

    def fuse_modules(self):
        """Joins what can be joined."""
        self.sub.fuse_modules()


class AnnotatedSkipQuantModel(nn.Module):
    def __init__(self, qengine):
        super().__init__()
        self.qconfig = get_default_qconfig(qengine)
        self.sub = QuantWrapper(InnerModule())
        self.fc = nn.Linear(5, 5)
        self.fc.qconfig = None

    def forward(self, x):
        return self.fc(self.sub(x))

    def fuse_modules(self):
        """Joins what can be joined."""
        self.sub.module.fuse_modules()


class QuantStubModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.qconfig = get_default_qconfig("qnnpack")
        self.quant = QuantStub()
        self.dequant = DeQuantStub()
        self.fc = nn.Linear(5, 5)

    def forward(self, x):
        return self.dequant(self.fc(self.quant(x)))


class ActivationsTestModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.qconfig = get_default_qconfig("fbgemm")
        self.quant = QuantStub()
        self.hardswish = nn.Hardswish()
        self.elu = nn.ELU()
        self.dequant = DeQuantStub()

    def forward(self, x):
        return self.dequant(self.elu(self.hardswish(self.quant(x))))


class NormalizationTestModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant = QuantStub()
        self.fc1 = nn.Linear(5, 8)
        self.layer_norm = nn.LayerNorm(8)
        self.group_norm = nn.GroupNorm(2, 8)
        self.instance_norm1d = nn.InstanceNorm1d(8)
        self.instance_norm2d = nn.InstanceNorm2d(8)
        self.instance_norm3d = nn.InstanceNorm3d(8)

    def forward(self, x):
        x = self.layer_norm(self.fc1(self.quant(x)))
        x = self.group_norm(x.unsqueeze(-1).repeat(1, 1, 3))
        x = self.instance_norm1d(x)
        x = self.instance_norm2d(x.unsqueeze(-1))
        return self.instance_norm3d(x.unsqueeze(-1))


# Training.


class ManualLinearQATModel(nn.Module):
    def __init__(self, qengine):
        super().__init__()
        self.qconfig = get_default_qat_qconfig(qengine)
        self.quant = QuantStub()
        self.dequant = DeQuantStub()
        self.fc1 = nn.Linear(5, 1)
        self.fc2 = nn.Linear(1, 10)

    def forward(self, x):
        return self.dequant(self.fc2(self.fc1(self.quant(x))))


class ManualDropoutQATModel(nn.Module):
    def __init__(self, qengine):
        super().__init__()
        self.qconfig = get_default_qat_qconfig(qengine)
        self.quant = QuantStub()
        self.dequant = DeQuantStub()
        self.fc1 = nn.Linear(5, 1)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        return self.dequant(self.dropout(self.fc1(self.quant(x))))


class ManualLinearDynamicQATModel(nn.Module):
    def __init__(self, qconfig=None):
        super().__init__()
        self.qconfig = qconfig or torch.ao.quantization.default_dynamic_qat_qconfig
        self.fc1 = nn.Linear(5, 1)
        self.fc2 = nn.Linear(1, 10)

    def forward(self, x):
        return self.fc2(self.fc1(x))


class ManualConvLinearQATModel(nn.Module):
    def __init__(self, qconfig=None):
        super().__init__()
        self.qconfig = qconfig if qconfig else get_default_qat_qconfig("qnnpack")
        self.quant = QuantStub()
        self.dequant = DeQuantStub()
        self.conv = _conv(3, 1, 3)
        self.fc1 = nn.Linear(64, 10)
        self.fc2 = nn.Linear(10, 10)

    def forward(self, x):
        x = self.conv(self.quant(x))
        x = self.fc1(x.view(-1, 64).contiguous())
        return self.dequant(self.fc2(x))


class ManualConvLinearSymmQATModel(ManualConvLinearQATModel):
    def __init__(self):
        super().__init__(default_symmetric_qnnpack_qat_qconfig)


# Embeddings.


class EmbeddingModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(num_embeddings=10, embedding_dim=12)

    def forward(self, indices):
        return self.emb(indices)


class EmbeddingBagModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingBag(num_embeddings=10, embedding_dim=12, include_last_offset=True, scale_grad_by_freq=False, mode="sum")

    def forward(self, indices, offsets, per_sample_weights):
        return self.emb(indices, offsets, per_sample_weights)


class EmbeddingWithStaticLinear(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingBag(num_embeddings=10, embedding_dim=12)
        self.fc = nn.Linear(4, 2)
        self.emb.qconfig = torch.ao.quantization.float_qparams_weight_only_qconfig
        self.qconfig = default_qconfig
        self.quant = QuantStub()
        self.dequant = DeQuantStub()

    def forward(self, indices, offsets, linear_in):
        dense = self.dequant(self.fc(self.quant(linear_in)))
        return torch.cat([dense] + [self.emb(indices, offsets)], dim=1)


class ManualEmbeddingBagLinear(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingBag(num_embeddings=10, embedding_dim=12, mode="sum")
        self.emb.qconfig = default_embedding_qat_qconfig
        self.quant = QuantStub()
        self.dequant = DeQuantStub()
        self.linear = nn.Linear(12, 1)
        self.qconfig = get_default_qat_qconfig("qnnpack")

    def forward(self, input: torch.Tensor, offsets: Optional[torch.Tensor] = None, per_sample_weights: Optional[torch.Tensor] = None):
        return self.dequant(self.linear(self.quant(self.emb(input, offsets, per_sample_weights))))


class DeFusedEmbeddingBagLinear(nn.Module):
    """A linear layer on sums of embeddings."""

    def __init__(self) -> None:
        super().__init__()
        self.emb = nn.Embedding(num_embeddings=10, embedding_dim=12)
        self.emb.qconfig = default_embedding_qat_qconfig
        self.bagging_op = torch.sum
        self.quant = QuantStub()
        self.dequant = DeQuantStub()
        self.linear = nn.Linear(12, 1)
        self.qconfig = get_default_qat_qconfig("qnnpack")

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return self.dequant(self.linear(self.quant(self.bagging_op(self.emb(input), dim=1))))


class EmbBagWrapper(nn.Module):
    def __init__(self, num_embeddings, embedding_dim):
        super().__init__()
        self.emb_bag = nn.EmbeddingBag(num_embeddings, embedding_dim, mode="sum")

    def forward(self, indices, offsets):
        return self.emb_bag(indices, offsets)


class DenseTopMLP(nn.Module):
    def __init__(self, dense_dim, dense_out, embedding_dim, top_out_in, top_out_out) -> None:
        super().__init__()
        self.dense_mlp = nn.Sequential(nn.Linear(dense_dim, dense_out))
        self.top_mlp = nn.Sequential(nn.Linear(dense_out + embedding_dim, top_out_in), nn.Linear(top_out_in, top_out_out))

    def forward(self, sparse_feature: torch.Tensor, dense: torch.Tensor) -> torch.Tensor:
        return self.top_mlp(torch.cat([self.dense_mlp(dense)] + [sparse_feature], dim=1))


class SparseNNModel(nn.Module):
    _NUM_EMBEDDINGS = 10
    _EMBEDDING_DIM = 5
    _DENSE_DIM = 4
    _DENSE_OUTPUT = 2
    _TOP_OUT_IN = 2
    _TOP_OUT_OUT = 2
    _TOP_MLP_DIM = 1

    def __init__(self) -> None:
        super().__init__()
        self.model_sparse = EmbBagWrapper(self._NUM_EMBEDDINGS, self._EMBEDDING_DIM)
        self.dense_top = DenseTopMLP(self._DENSE_DIM, self._DENSE_OUTPUT, self._EMBEDDING_DIM, self._TOP_OUT_IN, self._TOP_OUT_OUT)

    def forward(self, sparse_indices: torch.Tensor, sparse_offsets: torch.Tensor, dense: torch.Tensor) -> torch.Tensor:
        return self.dense_top(self.model_sparse(sparse_indices, sparse_offsets), dense)


# Recurrent layers.


class RNNDynamicModel(nn.Module):
    def __init__(self, mod_type):
        super().__init__()
        self.qconfig = default_dynamic_qconfig
        if mod_type == "GRU":
            self.mod = nn.GRU(2, 2).to(dtype=torch.float)
        if mod_type == "LSTM":
            self.mod = nn.LSTM(2, 2).to(dtype=torch.float)

    def forward(self, x):
        return self.mod(x)


class RNNCellDynamicModel(nn.Module):
    def __init__(self, mod_type):
        super().__init__()
        self.qconfig = default_dynamic_qconfig
        if mod_type == "GRUCell":
            self.mod = nn.GRUCell(2, 2)
        if mod_type == "LSTMCell":
            self.mod = nn.LSTMCell(2, 2)
        if mod_type == "RNNReLU":
            self.mod = nn.RNNCell(2, 2, nonlinearity="relu")
        if mod_type == "RNNTanh":
            self.mod = nn.RNNCell(2, 2, nonlinearity="tanh")

    def forward(self, x):
        return self.mod(x)


class LSTMwithHiddenDynamicModel(nn.Module):
    def __init__(self, qengine="fbgemm"):
        super().__init__()
        self.qconfig = get_default_qconfig(qengine)
        self.lstm = nn.LSTM(2, 2).to(dtype=torch.float)

    def forward(self, x, hid):
        return self.lstm(x, hid)


# Fusion.


class SubModelForFusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = _conv(2, 2, 1, bias=False)
        self.bn = nn.BatchNorm2d(2)

    def forward(self, x):
        return self.bn(self.conv(x))


class SubModelWithoutFusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = _conv(2, 2, 1, bias=False)
        self.relu = nn.ReLU(inplace=False)

    def forward(self, x):
        return self.relu(self.conv(x))


class ModelForFusion(nn.Module):
    def __init__(self, qconfig):
        super().__init__()
        self.conv1 = _conv(3, 2, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(2)
        self.relu1 = nn.ReLU(inplace=True)
        self.sub1 = SubModelForFusion()
        self.sub2 = SubModelWithoutFusion()
        self.fc = nn.Linear(36, 10)
        self.quant = QuantStub()
        self.dequant = DeQuantStub()
        self.qconfig = qconfig
        self.conv2 = nn.Conv3d(3, 2, (1, 1, 1), bias=False)
        self.relu2 = nn.ReLU(inplace=False)
        self.bn2 = nn.BatchNorm3d(2)
        self.relu3 = nn.ReLU(inplace=True)
        self.conv3 = nn.Conv1d(3, 3, 2)
        self.bn3 = nn.BatchNorm1d(3)
        self.relu4 = nn.ReLU(inplace=True)
        self.sub2.qconfig = None
        self.fc.qconfig = None

    def forward(self, x):
        x = self.quant(x.squeeze(2))
        x = self.relu4(self.bn3(self.conv3(x)))
        x = x.unsqueeze(2)
        y = x.unsqueeze(2)
        x = self.sub1(self.relu1(self.bn1(self.conv1(x))))
        x = self.sub2(self.dequant(x))
        x = self.fc(x.reshape(-1, 36).contiguous())
        y = self.relu3(self.bn2(self.relu2(self.conv2(y))))
        y = self.dequant(y)
        return x


class ConvBNReLU(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(3, 3, 1, 1, bias=False), nn.BatchNorm2d(3), nn.ReLU(inplace=False))


class ModelWithSequentialFusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 3, 1)
        self.relu1 = nn.ReLU(inplace=False)
        self.features = nn.Sequential(*(ConvBNReLU() for _ in range(3)))
        self.classifier = nn.Sequential(nn.Linear(300, 10), nn.ReLU(inplace=False))
        self.seq = nn.Sequential()
        self.quant = QuantStub()
        self.dequant = DeQuantStub()

    def forward(self, x):
        x = self.features(self.relu1(self.conv1(self.quant(x))))
        x = self.classifier(torch.reshape(x, (-1, 3 * 10 * 10)))
        return self.dequant(self.seq(x))


class ModelForFusionWithBias(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = _conv(3, 2, 5, bias=True)
        self.bn1 = nn.BatchNorm2d(2)
        self.relu1 = nn.ReLU(inplace=True)
        self.conv2 = _conv(2, 2, 1, bias=True)
        self.bn2 = nn.BatchNorm2d(2)
        self.quant = QuantStub()
        self.dequant = DeQuantStub()

    def forward(self, x):
        x = self.relu1(self.bn1(self.conv1(self.quant(x))))
        return self.dequant(self.bn2(self.conv2(x)))


class ModelForLinearBNFusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(20, 10)
        self.bn = nn.BatchNorm1d(10)
        nn.init.uniform_(self.bn.weight)
        nn.init.uniform_(self.bn.bias)

    def forward(self, x):
        return self.bn(self.fc(x))


class ModelForConvTransposeBNFusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.ConvTranspose1d(3, 3, 1)
        self.bn1 = nn.BatchNorm1d(3)
        self.conv2 = nn.ConvTranspose2d(3, 3, 1)
        self.bn2 = nn.BatchNorm2d(3)
        self.conv3 = nn.ConvTranspose3d(3, 3, 1)
        self.bn3 = nn.BatchNorm3d(3)

    def forward(self, x):
        x = self.bn1(self.conv1(x)).unsqueeze(2)
        x = self.bn2(self.conv2(x)).unsqueeze(2)
        return self.bn3(self.conv3(x))


class DummyObserver(nn.Module):
    def calculate_qparams(self):
        return 1.0, 0

    def forward(self, x):
        return x


class ModelWithFunctionals(nn.Module):
    def __init__(self):
        super().__init__()
        self.mycat = FloatFunctional()
        self.myadd = FloatFunctional()
        self.myadd_relu = FloatFunctional()

    def forward(self, x):
        y = self.mycat.cat([x, x, x])
        z = self.myadd.add(y, y)
        return self.myadd_relu.add_relu(z, z)


class ResNetBase(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 3, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(3)
        self.relu1 = nn.ReLU()
        self.relu2 = nn.ReLU()
        self.downsample = nn.Identity()
        self.myop = FloatFunctional()
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        out = self.relu1(self.bn1(self.conv1(x)))
        out = self.relu2(self.myop.add(out, self.downsample(x)))
        return self.fc(torch.flatten(self.avgpool(out), 1))

    def fuse_model(self):
        """Joins the first three layers."""
        fuse = torch.ao.quantization.fuse_modules_qat if self.training else torch.ao.quantization.fuse_modules
        fuse(self, [["conv1", "bn1", "relu1"]], inplace=True)


class ModelMultipleOps(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 3, 1, bias=False)
        self.conv2 = nn.Conv2d(3, 3, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(3)
        self.relu1 = nn.ReLU()
        self.relu2 = nn.ReLU()
        self.downsample = nn.Identity()
        self.skip_add = FloatFunctional()
        self.cat = FloatFunctional()
        self.avgpool = nn.AdaptiveAvgPool2d((4, 4))
        self.fc = nn.Linear(12, 6)

    def forward(self, x):
        out = self.relu1(self.bn1(self.conv1(x)))
        out = self.relu2(self.skip_add.add(out, self.downsample(x)))
        out = F.max_pool2d(self.conv2(self.avgpool(out)), 2, 2)
        out = self.cat.cat([out, out])
        return self.fc(out.reshape(-1, 3 * 2 * 2))


class ModelMultipleOpsNoAvgPool(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 3, 1, bias=False)
        self.conv2 = nn.Conv2d(3, 3, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(3)
        self.relu1 = nn.ReLU()
        self.relu2 = nn.ReLU()
        self.skip_add = FloatFunctional()
        self.cat = FloatFunctional()
        self.maxpool = nn.MaxPool2d((4, 4))
        self.fc = nn.Linear(12, 6)

    def forward(self, x):
        out = self.relu1(self.bn1(self.conv1(x)))
        out = self.relu2(self.skip_add.add(out, self.conv2(x)))
        out = F.max_pool2d(self.conv2(self.maxpool(out)), 2, 2)
        out = self.cat.cat([out, out])
        return self.fc(out.reshape(-1, 3 * 2 * 2))


__all__ = [name for name, value in list(globals().items()) if isinstance(value, type) and value.__module__ == __name__ and not name.startswith("_")]
