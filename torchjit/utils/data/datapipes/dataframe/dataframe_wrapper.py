"""Functions of data frames, which those of pandas have."""

from __future__ import annotations

from typing import Any


class PandasWrapper:
    """The functions for the data frames of pandas. Raises ImportError where pandas is missing."""

    @classmethod
    def create_dataframe(cls, data: Any, columns: Any) -> Any:
        import pandas

        return pandas.DataFrame(data, columns=columns)

    @classmethod
    def is_dataframe(cls, data: Any) -> bool:
        import pandas

        return isinstance(data, pandas.DataFrame)

    @classmethod
    def is_column(cls, data: Any) -> bool:
        import pandas

        return isinstance(data, pandas.Series)

    @classmethod
    def iterate(cls, data: Any) -> Any:
        yield from data.itertuples(index=False)

    @classmethod
    def concat(cls, buffer: Any) -> Any:
        import pandas

        return pandas.concat(buffer)

    @classmethod
    def get_item(cls, data: Any, idx: int) -> Any:
        return data[idx : idx + 1]

    @classmethod
    def get_len(cls, df: Any) -> int:
        return len(df.index)

    @classmethod
    def get_columns(cls, df: Any) -> list[Any]:
        return list(df.columns.values.tolist())


_wrapper: Any = PandasWrapper


def get_df_wrapper() -> Any:
    """What has the functions."""
    return _wrapper


def set_df_wrapper(wrapper: Any) -> None:
    """Has other functions for data frames of another library."""
    global _wrapper
    _wrapper = wrapper


def create_dataframe(data: Any, columns: Any = None) -> Any:
    """A data frame of rows."""
    return _wrapper.create_dataframe(data, columns)


def is_dataframe(data: Any) -> bool:
    """Whether an object is a data frame."""
    return _wrapper.is_dataframe(data)


def is_column(data: Any) -> bool:
    """Whether an object is a column of a data frame."""
    return _wrapper.is_column(data)


def get_columns(data: Any) -> Any:
    """The names of the columns."""
    return _wrapper.get_columns(data)


def concat(buffer: Any) -> Any:
    """Data frames one below the other."""
    return _wrapper.concat(buffer)


def iterate(data: Any) -> Any:
    """The rows."""
    return _wrapper.iterate(data)


def get_item(data: Any, idx: int) -> Any:
    """A data frame of one row."""
    return _wrapper.get_item(data, idx)


def get_len(df: Any) -> int:
    """The number of rows."""
    return _wrapper.get_len(df)
