"""What all schedulers of sparsity are."""

from __future__ import annotations

from typing import Any

from torchjit.ao.sparsity.sparsifier.base_sparsifier import BaseSparsifier

__all__ = ["BaseScheduler"]


class BaseScheduler:
    """Sets sparsity_level of the groups of a sparsifier at each step. A class of its own defines get_sl, which gives the levels."""

    def __init__(self, sparsifier: Any, last_epoch: int = -1, verbose: bool = False) -> None:
        if not isinstance(sparsifier, BaseSparsifier):
            raise TypeError(f"{type(sparsifier).__name__} is not an instance of torch.ao.sparsity.BaseSparsifier")
        self.sparsifier: Any = sparsifier
        self.base_sl: list[float] = [group["sparsity_level"] for group in sparsifier.groups]
        self.last_epoch: int = last_epoch
        self._step_count = 0
        self.verbose: bool = verbose
        self._get_sl_called_within_step = False
        self._last_sl: list[float] = []
        self.step()

    def state_dict(self) -> dict[str, Any]:
        """All but the sparsifier."""
        return {key: value for key, value in self.__dict__.items() if key != "sparsifier"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes what state_dict gave."""
        self.__dict__.update(state_dict)

    def get_last_sl(self) -> list[float]:
        """The levels of the last step."""
        return self._last_sl

    def get_sl(self) -> list[float]:
        """The levels of this epoch. Raises NotImplementedError in this class."""
        raise NotImplementedError

    def print_sl(self, is_verbose: bool, group: int, sl: float, epoch: int | None = None) -> None:
        """Prints the level of a group, if wanted."""
        if is_verbose:
            print(f"Adjusting sparsity level of group {group} to {sl:.4e}." if epoch is None else f"Epoch {epoch:5d}: adjusting sparsity level of group {group} to {sl:.4e}.")

    def __repr__(self) -> str:
        return f"{type(self).__name__} (\nSparsifier {self.sparsifier}\n    base_sl: {self.base_sl}\n)"

    def step(self, epoch: int | None = None) -> None:
        """Goes to the next epoch; a number is what is printed."""
        self._step_count += 1
        self.last_epoch += 1
        self._get_sl_called_within_step = True
        try:
            levels = self.get_sl()
        finally:
            self._get_sl_called_within_step = False
        for i, (group, level) in enumerate(zip(self.sparsifier.groups, levels)):
            group["sparsity_level"] = level
            self.print_sl(self.verbose, i, level, epoch)
        self._last_sl = [group["sparsity_level"] for group in self.sparsifier.groups]
        self.sparsifier.enable_mask_update = True

    def _make_sure_a_list(self, var: Any) -> list[Any]:
        """One value for each group, of a list or of one value."""
        count = len(self.sparsifier.groups)
        if not isinstance(var, (list, tuple)):
            return [var] * count
        if len(var) != count:
            raise ValueError(f"Expected variable of length {count}, but got {len(var)}")
        return list(var)
