"""Which numbers networks run in, by the device."""

from __future__ import annotations

import torch

AMPERE = (8, 0)
"""The first generation of GPUs that multiplies bfloat16; older ones only pretend to, slowly."""


def working_dtype(device: torch.device) -> torch.dtype:
    """What the networks of a training run in: bfloat16 on a GPU that has it, float32 elsewhere."""
    if device.type == "cuda" and torch.cuda.get_device_capability(device) >= AMPERE:
        return torch.bfloat16
    return torch.float32
