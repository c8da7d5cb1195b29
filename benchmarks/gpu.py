"""The figures of docs/benchmarks.md that need a GPU: python benchmarks/gpu.py"""

from __future__ import annotations

import json
import subprocess

import torch

from vauban import bench
from vauban.games.base import game


def main() -> None:
    """Print one line of JSON for each figure."""
    name = torch.cuda.get_device_name()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    print(json.dumps({"device": name, "torch": torch.__version__, "commit": commit}))
    for variant in ("classic", "barrage"):
        for games in (1536, 16384, 65536, 131072):
            simulator = bench.make(game(variant), games, "cuda", None, tracks=True)
            rate = bench.bench_sim(simulator, 1.0)
            print(
                json.dumps({"bench": "sim", "variant": variant, "games": games, "plies_per_second": round(rate)}),
                flush=True,
            )
        simulator = bench.make(game(variant), 131072, "cuda", None, tracks=False)
        rate = bench.bench_sim(simulator, 1.0)
        print(
            json.dumps(
                {"bench": "sim", "tracks": False, "variant": variant, "games": 131072, "plies_per_second": round(rate)}
            )
        )
        simulator = bench.make(game(variant), 131072, "cuda", None, tracks=True)
        rate = bench.bench_rollout(simulator, 1.0)
        print(
            json.dumps({"bench": "rollout", "variant": variant, "games": 131072, "plies_per_second": round(rate)}),
            flush=True,
        )
        for games in (1536, 65536):
            simulator = bench.make(game(variant), games, "cuda", None, tracks=True)
            rate = bench.bench_mask(simulator, 0.5)
            print(
                json.dumps({"bench": "mask", "variant": variant, "games": games, "states_per_second": round(rate)}),
                flush=True,
            )
        for games in (1536, 16384, 65536):
            for dtype, layout in ((torch.bfloat16, "planes"), (torch.bfloat16, "squares"), (torch.float32, "planes")):
                if dtype == torch.float32 and games > 16384:
                    continue
                simulator = bench.make(game(variant), games, "cuda", None, tracks=True)
                rate = bench.bench_observe(simulator, 0.5, "ataraxos", dtype, layout)
                line = {"bench": "observe", "variant": variant, "games": games, "dtype": str(dtype), "layout": layout}
                print(json.dumps(line | {"states_per_second": round(rate)}), flush=True)


if __name__ == "__main__":
    main()
