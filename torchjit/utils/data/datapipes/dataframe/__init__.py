"""Data frames: what pipes ask of them, and operations on them that are noted and done later."""

from torchjit.utils.data.datapipes.dataframe import dataframe_wrapper as dataframe_wrapper
from torchjit.utils.data.datapipes.dataframe.dataframes import CaptureDataFrame as CaptureDataFrame
from torchjit.utils.data.datapipes.datapipe import DFIterDataPipe as DFIterDataPipe

__all__ = ["CaptureDataFrame", "DFIterDataPipe"]
