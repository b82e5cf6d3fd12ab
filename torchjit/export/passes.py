"""torch.export.passes: changes of exported programs."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.export.exported_program import ExportedProgram

__all__ = ["move_to_device_pass"]


def move_to_device_pass(ep: ExportedProgram, location: Any) -> ExportedProgram:
    """The program with its tensors, and the devices that its operators name, moved to a device.

    location is a device, or a dictionary of devices by those that they replace. The program itself changes.
    """

    def to(device: Any) -> Any:
        if isinstance(location, dict):
            return torch.device(location.get(str(device), str(device)))
        return torch.device(location)

    for table in (ep.state_dict, ep.constants):
        for name, x in table.items():
            if isinstance(x, torch.nn.Parameter):
                table[name] = torch.nn.Parameter(x.to(to(x.device)), x.requires_grad)
            elif isinstance(x, torch.Tensor):
                table[name] = x.to(to(x.device))
    for module in ep.graph_module.modules():
        for node in getattr(module, "graph", ep.graph).nodes:
            if "device" in node.kwargs and node.kwargs["device"] is not None:
                node.update_kwarg("device", to(node.kwargs["device"]))
            value = node.meta.get("val")
            described: list[Any] = list(value) if isinstance(value, (list, tuple)) else [value]
            for one in described:
                if hasattr(one, "_place"):
                    one._place = to(one._place)
    ep.graph_module.recompile()
    ep.validate()
    return ep
