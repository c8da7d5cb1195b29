from vauban.errors import need_torch

need_torch("networks")
