"""`python -m vauban` is the command `vauban`; `torchrun … -m vauban train …` starts several of them."""

from vauban.cli.main import run

if __name__ == "__main__":
    run()
