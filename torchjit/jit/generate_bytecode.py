"""torch.jit.generate_bytecode: the code of the programs that give old operators their meaning."""

from __future__ import annotations

from typing import Any

from torchjit._C import _compile_graph_to_code_table, _generate_upgraders_graph

__all__ = ["format_bytecode", "generate_upgraders_bytecode"]


def format_bytecode(table: dict[str, Any]) -> dict[str, Any]:
    """Tables of code, which are pairs of names and values, as dictionaries and lists."""

    def listed(content: Any) -> Any:
        return [listed(item) for item in content] if isinstance(content, tuple) else content

    formatted = {}
    for name, content in table.items():
        assert isinstance(content, tuple) and content and isinstance(content[0], tuple)
        formatted[name] = {key: listed(value) for key, value in content}
    return formatted


def generate_upgraders_bytecode() -> list[dict[str, Any]]:
    """For each of the programs a dictionary with its name and its code."""
    return [format_bytecode({name: _compile_graph_to_code_table(name, graph)}) for name, graph in _generate_upgraders_graph().items()]
