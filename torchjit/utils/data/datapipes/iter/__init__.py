"""Data pipes of examples one after the other."""

from torchjit._submodules import provide_from as _provide_from
from torchjit.utils.data.datapipes.iter.callable import CollatorIterDataPipe as Collator
from torchjit.utils.data.datapipes.iter.callable import MapperIterDataPipe as Mapper
from torchjit.utils.data.datapipes.iter.combinatorics import SamplerIterDataPipe as Sampler
from torchjit.utils.data.datapipes.iter.combinatorics import ShufflerIterDataPipe as Shuffler
from torchjit.utils.data.datapipes.iter.combining import ConcaterIterDataPipe as Concater
from torchjit.utils.data.datapipes.iter.combining import DemultiplexerIterDataPipe as Demultiplexer
from torchjit.utils.data.datapipes.iter.combining import ForkerIterDataPipe as Forker
from torchjit.utils.data.datapipes.iter.combining import MultiplexerIterDataPipe as Multiplexer
from torchjit.utils.data.datapipes.iter.combining import ZipperIterDataPipe as Zipper
from torchjit.utils.data.datapipes.iter.files import FileListerIterDataPipe as FileLister
from torchjit.utils.data.datapipes.iter.files import FileLoaderIterDataPipe as FileLoader
from torchjit.utils.data.datapipes.iter.files import FileOpenerIterDataPipe as FileOpener
from torchjit.utils.data.datapipes.iter.files import RoutedDecoderIterDataPipe as RoutedDecoder
from torchjit.utils.data.datapipes.iter.files import StreamReaderIterDataPipe as StreamReader
from torchjit.utils.data.datapipes.iter.grouping import BatcherIterDataPipe as Batcher
from torchjit.utils.data.datapipes.iter.grouping import GrouperIterDataPipe as Grouper
from torchjit.utils.data.datapipes.iter.grouping import ShardingFilterIterDataPipe as ShardingFilter
from torchjit.utils.data.datapipes.iter.grouping import UnBatcherIterDataPipe as UnBatcher
from torchjit.utils.data.datapipes.iter.selecting import FilterIterDataPipe as Filter
from torchjit.utils.data.datapipes.iter.utils import IterableWrapperIterDataPipe as IterableWrapper

__all__ = [
    "Batcher", "Collator", "Concater", "Demultiplexer", "FileLister", "FileLoader", "FileOpener", "Filter", "Forker", "Grouper", "IterableWrapper",
    "Mapper", "Multiplexer", "RoutedDecoder", "Sampler", "ShardingFilter", "Shuffler", "StreamReader", "UnBatcher", "Zipper",
]  # fmt: skip

_provide_from(
    "torchjit.utils.data.datapipes.iter.files",
    __name__,
    {
        "filelister": "FileListerIterDataPipe",
        "fileopener": "FileOpenerIterDataPipe FileLoaderIterDataPipe",
        "routeddecoder": "RoutedDecoderIterDataPipe",
        "streamreader": "StreamReaderIterDataPipe",
    },
)
