from vauban.errors import need_torch

need_torch("training and its models")
