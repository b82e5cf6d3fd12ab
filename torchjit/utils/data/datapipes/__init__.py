"""Data pipes: datasets made of others, one step each."""

from torchjit.utils.data.datapipes import iter as iter
from torchjit.utils.data.datapipes import map as map
from torchjit.utils.data.datapipes import utils as utils
