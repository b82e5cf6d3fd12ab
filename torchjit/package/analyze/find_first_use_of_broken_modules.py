"""How a package came to need what it cannot have."""

from torchjit.package.package_exporter import PackagingError


def find_first_use_of_broken_modules(exc: PackagingError) -> dict[str, list[str]]:
    """For each module that an export failed for, modules that lead to it, each importing the next."""
    assert isinstance(exc, PackagingError), "exception must be a PackagingError"
    graph = exc.dependency_graph
    return {name: graph.first_path(name) for name, attrs in graph.nodes.items() if attrs.get("error") is not None}
