"""The types of numbers that networks run in, by the device."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import nn

AMPERE = (8, 0)
"""The first generation of GPUs that multiplies bfloat16; older ones only pretend to, slowly."""


def multiplies_bfloat16(device: torch.device) -> bool:
    """Return whether a device has instructions for bfloat16: networks run about twice as fast there as in float32."""
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= AMPERE
    capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def working_dtype(device: torch.device) -> torch.dtype:
    """Return the numbers of networks in training: bfloat16 on a GPU that has it, float32 elsewhere."""
    return torch.bfloat16 if device.type == "cuda" and multiplies_bfloat16(device) else torch.float32


def working_copy(module: Any, device: torch.device) -> Any:
    """Return the network for searches: a copy in bfloat16 where that is faster, else the module itself."""
    if not isinstance(module, nn.Module) or not multiplies_bfloat16(device):
        return module
    return deepcopy(module).to(device, torch.bfloat16).eval()
