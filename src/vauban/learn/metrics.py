"""What a run says about itself: one line of JSON an iteration, each number explained here and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from vauban.files import write_whole

METRICS_FILE = "metrics.jsonl"
"""In a run's folder: a line for each iteration."""
COLLAPSED = 0.05
"""An entropy of the policy, in nats, below which a run warns: of two moves, one is then played 99 times of 100."""
MEANINGS = {
    "iteration": "Which iteration this was, from 1: collecting a window, then training on it.",
    "minutes": "Minutes of the run so far, without the belief's and those between being stopped and resumed.",
    "moves": "Moves played so far, of all workers.",
    "games": "Games that have ended so far, of all workers.",
    "speed.moves_per_second": "Moves of this iteration by its seconds: setups, collecting and both trainings.",
    "speed.setups": "The same by the seconds of drawing setups alone.",
    "speed.collect": "By the seconds of playing the window alone.",
    "speed.moves": "By the seconds of training the move network alone.",
    "speed.setup_training": "By the seconds of training the setup network alone.",
    "speed.belief_positions_per_second": "Positions that the belief learned from, by the seconds that it took in all.",
    "seconds.setups": "Seconds that drawing the pool of setups took.",
    "seconds.collect": "Seconds that playing the window took.",
    "seconds.moves": "Seconds that training the move network took.",
    "seconds.setup_training": "Seconds that training the setup network took.",
    "seconds.evaluation": "Seconds that playing the ladder took, where it was played.",
    "memory.gigabytes": "Most memory of the GPU in use so far.",
    "play.ended": "Games that ended in this window.",
    "play.plies": "Their mean length in plies.",
    "play.first_mover": "Mean score of the player who moved first, draws half.",
    "play.draws": "The share of them that was drawn.",
    "play.end.*": "The share of them that ended so (docs/rules.md names the ends).",
    "moves.policy_loss": "Clipped importance-weighted loss, mean over the positions trained.",
    "moves.outcome_loss": "The value loss: cross-entropy of the outcome head to its target, in nats.",
    "moves.update_kl": "Divergence of the policy being trained from the one that played, at the positions trained.",
    "moves.magnet_kl": "Divergence of the policy from the magnet: how far it is from playing anything.",
    "moves.entropy": "Entropy of the policy at the positions trained, in nats.",
    "moves.clip_rate": "The share of positions whose probability ratio was beyond the clip.",
    "moves.advantage": "Mean size of the advantages trained on.",
    "moves.kept": "The share of the window's positions that passed the filter.",
    "moves.threshold": "The size an advantage had to have.",
    "moves.batches": "Gradient steps of the move network.",
    "moves.gradient_norm": "Mean norm of its gradients before they are clipped.",
    "moves.learning_rate": "Its learning rate.",
    "moves.magnet_weight": "Weight of the divergence from the magnet.",
    "setups.entropy": "Mean surprise of the setups drawn, in nats: how mixed the setups are.",
    "setups.merged": "Setups drawn that were in the table already.",
    "setups.temperature": "Weight of the setups' entropy.",
    "setups.setups": "Setups trained on: those of which a game ended.",
    "setups.games": "Games that ended and whose setups were known.",
    "setups.unknown": "Setups of ended games that were not known any more.",
    "setups.loss": "Total loss of the setup network.",
    "setups.policy_loss": "Clipped importance-weighted loss of placements.",
    "setups.outcome_loss": "Cross-entropy of its outcome head.",
    "setups.entropy_loss": "Squared error of its entropy head (nats / 10).",
    "setups.kl": "Divergence of the setup policy from the one that drew.",
    "setups.clip_rate": "The share of placements beyond the clip.",
    "setups.gradient_norm": "Mean norm of the setup network's gradients before they are clipped.",
    "setups.steps": "Gradient steps of the setup network.",
    "score.*": "Score of the averaged networks against this agent, draws half, where it was measured.",
    "score_low.*": "The lower end of the score's 95 % interval.",
    "score_high.*": "The upper end of the score's 95 % interval.",
    "belief.steps": "Gradient steps of the belief network so far.",
    "belief.minutes": "Minutes for which it has been trained so far.",
    "belief.loss": "Its cross-entropy in training, in nats for each hidden piece, with dropout.",
    "belief.gradient_norm": "Mean norm of its gradients before they are clipped.",
    "belief.validation": "Nats for each hidden piece in games it was not trained on; the averaged network.",
    "belief.marginal": "The same of the marginals: the shares that the observation has (channels 12–23).",
    "belief.uniform": "The same of the uniform posterior: such shares, anew after each piece that is named.",
    "belief.strange": "Its nats in games that begin from uniform setups, if belief.strange asks for some.",
    "belief.strange_uniform": "The same of the uniform posterior.",
}
"""Every metric, by its name; a star stands for what varies."""


def meaning(name: str) -> str | None:
    """What a metric means; None if nobody has said."""
    stem = name.rpartition(".")[0]
    return MEANINGS.get(name) or MEANINGS.get(f"{stem}.*") or MEANINGS.get(f"{name.split('.', 1)[0]}.*")


class Journal:
    """The metrics of a run in its folder: `metrics.jsonl`, and TensorBoard's files where that is installed."""

    def __init__(self, folder: Path, note: Callable[[str], None]) -> None:
        """note: takes a sentence on what is not written."""
        self.path = folder / METRICS_FILE
        self._note = note
        self._boards: dict[str, Any] = {}
        self._purge: dict[str, int] = {}
        self._draws = True
        """Whether TensorBoard is written to."""

    def rewind(self, iteration: int, belief_steps: int) -> None:
        """Forget what came after an iteration, and after a step of the belief: a resumed run says it again."""
        kept = [
            line
            for line in self.lines()
            if line["iteration"] <= iteration and line.get("belief.steps", 0) <= belief_steps
        ]
        write_lines(self.path, kept)
        self._purge = {"": iteration + 1, "belief": belief_steps + 1}

    def write(self, metrics: Mapping[str, float]) -> None:
        """Add a line."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(dict(metrics)) + "\n")
        # The belief counts steps of its own, so it has a curve of its own; what its line says of the moves has been
        # said before.
        if "belief.steps" in metrics:
            mine = {name: value for name, value in metrics.items() if "belief" in name}
            self._draw("belief", mine, int(metrics["belief.steps"]))
        else:
            self._draw("", metrics, int(metrics["iteration"]))

    def amend(self, metrics: Mapping[str, float]) -> None:
        """Add to the last line, which is one of the moves, what came to be known after it was written."""
        *before, last = self.lines()
        write_lines(self.path, [*before, {**last, **metrics}])
        new = {name: value for name, value in metrics.items() if name not in last}
        self._draw("", new, int(last["iteration"]))

    def close(self) -> None:
        """End the threads that write TensorBoard's files."""
        boards, self._boards = self._boards, {}
        for board in boards.values():
            try:
                board.close()
            except OSError as error:
                self._stop_drawing(error)

    def _draw(self, part: str, metrics: Mapping[str, float], step: int) -> None:
        """Tell TensorBoard. It is a picture of the run and no part of it: when it fails, the run goes on."""
        if not self._draws:
            return
        try:
            board = self._tensorboard(part)
            for name, value in metrics.items():
                board.add_scalar(name.replace(".", "/", 1), value, step)
            board.flush()
        except ImportError:  # it is not installed, and nobody has to have it
            self._draws = False
        except OSError as error:
            self._stop_drawing(error)

    def _stop_drawing(self, error: OSError) -> None:
        if self._draws:
            self._draws = False
            self._note(
                f"TensorBoard's curves are not written any more ({error}); {self.path.name} has every line, and the "
                "run goes on"
            )

    def _tensorboard(self, part: str) -> Any:
        """TensorBoard's writer for a part, made when there is something to write."""
        if part not in self._boards:
            from torch.utils.tensorboard import SummaryWriter

            # It writes from a thread of its own, also when the program has gone to another folder.
            folder = (self.path.parent / "tensorboard" / part).absolute()
            self._boards[part] = SummaryWriter(str(folder), purge_step=self._purge.get(part))
        return self._boards[part]

    def lines(self) -> list[dict[str, float]]:
        """All lines so far; one that was cut off when the run was killed is left out."""
        return read_metrics(self.path.parent)


def read_metrics(folder: Path) -> list[dict[str, float]]:
    """All lines of a run's metrics; one that was cut off when the run was killed is left out."""
    return read_lines(folder / METRICS_FILE)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines, up to one that was cut off; none if there is no file."""
    if not path.exists():
        return []
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return found


def write_lines(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    """Make these the objects of a file of JSON lines; whoever is killed meanwhile leaves it as it was."""
    write_whole(path, "".join(json.dumps(line) + "\n" for line in lines))
