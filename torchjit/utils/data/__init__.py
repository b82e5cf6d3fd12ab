"""torch.utils.data: datasets, samplers and loaders of batches."""

from torchjit.utils.data import communication as communication
from torchjit.utils.data._utils.collate import default_collate as default_collate
from torchjit.utils.data._utils.collate import default_convert as default_convert
from torchjit.utils.data._utils.worker import get_worker_info as get_worker_info
from torchjit.utils.data.dataloader import DataLoader as DataLoader
from torchjit.utils.data.dataloader import _DatasetKind as _DatasetKind
from torchjit.utils.data.dataloader_experimental import DataLoader2 as DataLoader2
from torchjit.utils.data.datapipes._decorator import argument_validation as argument_validation
from torchjit.utils.data.datapipes._decorator import (
    guaranteed_datapipes_determinism as guaranteed_datapipes_determinism,
)
from torchjit.utils.data.datapipes._decorator import non_deterministic as non_deterministic
from torchjit.utils.data.datapipes._decorator import runtime_validation as runtime_validation
from torchjit.utils.data.datapipes._decorator import runtime_validation_disabled as runtime_validation_disabled
from torchjit.utils.data.datapipes.datapipe import DataChunk as DataChunk
from torchjit.utils.data.datapipes.datapipe import DFIterDataPipe as DFIterDataPipe
from torchjit.utils.data.datapipes.datapipe import IterDataPipe as IterDataPipe
from torchjit.utils.data.datapipes.datapipe import MapDataPipe as MapDataPipe
from torchjit.utils.data.datapipes.datapipe import functional_datapipe as functional_datapipe
from torchjit.utils.data.dataset import ChainDataset as ChainDataset
from torchjit.utils.data.dataset import ConcatDataset as ConcatDataset
from torchjit.utils.data.dataset import Dataset as Dataset
from torchjit.utils.data.dataset import IterableDataset as IterableDataset
from torchjit.utils.data.dataset import Subset as Subset
from torchjit.utils.data.dataset import TensorDataset as TensorDataset
from torchjit.utils.data.dataset import random_split as random_split
from torchjit.utils.data.distributed import DistributedSampler as DistributedSampler
from torchjit.utils.data.sampler import BatchSampler as BatchSampler
from torchjit.utils.data.sampler import RandomSampler as RandomSampler
from torchjit.utils.data.sampler import Sampler as Sampler
from torchjit.utils.data.sampler import SequentialSampler as SequentialSampler
from torchjit.utils.data.sampler import SubsetRandomSampler as SubsetRandomSampler
from torchjit.utils.data.sampler import WeightedRandomSampler as WeightedRandomSampler

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataChunk", "DataLoader", "Dataset", "DistributedSampler", "IterDataPipe", "IterableDataset",
    "MapDataPipe", "RandomSampler", "Sampler", "SequentialSampler", "Subset", "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler",
    "_DatasetKind", "default_collate", "default_convert", "functional_datapipe", "get_worker_info", "random_split",
]  # fmt: skip
