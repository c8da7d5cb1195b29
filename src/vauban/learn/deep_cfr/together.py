"""Runs of Deep CFR side by side, which differ by their seeds alone: every step of theirs is one step of them all.

The published networks are so small that a GPU takes hardly longer for a step of six of them than for that of one. So
the parameters of all runs lie in one tensor, a row for each run, and each run's own networks are views of its row: what
else a run does with them, above all saving them, knows nothing of the others.

    runs = [Run.begin(load_config("deep-cfr-geister", [f"seed={seed}"]), Path(f"runs/{seed}")) for seed in (1, 2, 3)]
    join([run.first for run in runs])
    while runs[0].goes_on():
        for run in runs:
            run.iterate()

Each run comes to the numbers that it has alone, but for rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.learn.deep_cfr import targets
from vauban.learn.deep_cfr.learner import PLAYERS, SEEDS, STRATEGY, DeepCFR
from vauban.learn.deep_cfr.regression import Items, Regression
from vauban.learn.deep_cfr.traversal import NetworkStrategies, Traversal, share_of
from vauban.learn.trainee import Trainee
from vauban.nets.policy import PolicyNetwork
from vauban.nets.replay import Replay
from vauban.sim.store import Results


def join(learners: Sequence[DeepCFR]) -> None:
    """Let learners go on side by side: whenever the first one is asked for an iteration, all make it."""
    together = Together(learners)
    for learner in learners:
        learner.together = together


class Together:
    """Learners of the same game with the same settings, and seeds one after the other."""

    def __init__(self, learners: Sequence[DeepCFR]) -> None:
        first = learners[0]
        alike = [
            (each.settings, each.game.spec(), each.device, each.iteration, each.place.seed - number)
            for number, each in enumerate(learners)
        ]
        seeds = [each.place.seed for each in learners]
        if any(each != alike[0] for each in alike) or seeds[0] // SEEDS != seeds[-1] // SEEDS:
            raise ConfigurationError(
                "runs of Deep CFR go on side by side only with the same game, settings, device and iteration, and "
                f"with seeds one after the other, not {seeds}"
            )
        self.learners = learners
        self.stacks = {
            name: Stack([each.trainees[name] for each in learners], first.settings.learning_rate)
            for name in first.trainees
        }
        games = first.settings.traversals
        self._games = [slice(number * games, (number + 1) * games) for number in range(len(learners))]
        strategies = StackedStrategies(
            first.strategies, [self.stacks[name] for name in PLAYERS], first.game, len(learners)
        )
        self.traversal = Traversal(
            first.game, games * len(learners), strategies, first.settings.exploration, first.device,
            seeds[0] // SEEDS, format=first.traversal.sim.format, literal=first.settings.literal_network,
        )  # fmt: skip
        self.regressions = {
            name: StackedRegression(stack, [each.regressions[name] for each in learners])
            for name, stack in self.stacks.items()
        }
        self._told: dict[int, dict[str, float]] = {}
        """Metrics that were not asked for yet, by the number of the learner."""

    def iterate(self, learner: DeepCFR) -> dict[str, float]:
        """Return the metrics of a learner's next iteration, which all make as soon as one asks for it."""
        number = next(number for number, each in enumerate(self.learners) if each is learner)
        if not self._told:
            self._told = dict(enumerate(self._iterate()))
        if number not in self._told:
            raise ConfigurationError("runs that go on side by side make their iterations in turn")
        return self._told.pop(number)

    def _iterate(self) -> list[dict[str, float]]:
        first = self.learners[0]
        for each in self.learners:
            each.iteration += 1
        player = targets.traverser_of(first.iteration)
        seconds: dict[str, float] = {}
        with first.place.timed(seconds, "traversals"):
            told = self._traverse(player)
        parts = [("values", PLAYERS[player])]
        if first.strategy_is_due:
            parts.append(("strategy", STRATEGY))
        for part, name in parts:
            with first.place.timed(seconds, part):
                told = [{**mine, **more} for mine, more in zip(told, self._learn(name), strict=True)]
        # The seconds of a run are its share of them.
        shares = {name: value / len(self.learners) for name, value in seconds.items()}
        return [each.summed_up(mine, shares) for each, mine in zip(self.learners, told, strict=True)]

    def _traverse(self, player: int) -> list[dict[str, float]]:
        paths = self.traversal.run(player, self.learners[0].first_number)
        self.traversal.sim.check_step()
        results = self.traversal.sim.results
        return [
            each.keep(
                player, *share_of(paths, self.traversal.visits, games), Results(*(part[games] for part in results))
            )
            for each, games in zip(self.learners, self._games, strict=True)
        ]

    def _learn(self, name: str) -> list[dict[str, float]]:
        first = self.learners[0]
        for each in self.learners:
            each.prepare(name)
        dice = [each.sampling(name) for each in self.learners]
        losses = self.regressions[name].learn(first.batches(name), first.scale, dice)
        return [each.learned(name, loss) for each, loss in zip(self.learners, losses, strict=True)]


class Stack:
    """The networks of several trainees: parameters, statistics and optimisers in common tensors, a row for each."""

    def __init__(self, trainees: Sequence[Trainee[PolicyNetwork]], learning_rate: float) -> None:
        self.trainees = trainees
        self.network = trainees[0].network
        """The make of them all."""
        parameters = [dict(each.network.named_parameters()) for each in trainees]
        self._names = list(parameters[0])
        self._shapes = [each.shape for each in parameters[0].values()]
        self._sizes = [each.numel() for each in parameters[0].values()]
        self.flat = nn.Parameter(torch.stack([_flattened(each.values()) for each in parameters]))
        """The parameters of each network, one behind the other."""
        self.statistics = {
            name: torch.stack([each.network.state_dict()[name] for each in trainees])
            for name in self.network.state_dict()
            if name not in parameters[0]
        }
        cuda = self.flat.is_cuda
        self.rate = torch.zeros((), device=self.flat.device) if cuda else learning_rate
        self._optimiser = torch.optim.Adam([self.flat], lr=self.rate, fused=cuda, capturable=cuda)
        self._share()

    @torch.no_grad()
    def _share(self) -> None:
        """Make views of the common tensors of what each trainee has."""
        pasts = [[each.optimiser.state.get(one, {}) for one in each.network.parameters()] for each in self.trainees]
        steps = pasts[0][0].get("step", torch.zeros((), device=self.flat.device if self.flat.is_cuda else None))
        moments = {
            name: torch.stack([
                _flattened(past.get(name, torch.zeros_like(one)) for past, one in
                           zip(mine, trainee.network.parameters(), strict=True))
                for mine, trainee in zip(pasts, self.trainees, strict=True)
            ])
            for name in ("exp_avg", "exp_avg_sq")
        }  # fmt: skip
        self._optimiser.state[self.flat] = {"step": steps, **moments}
        for row, trainee in enumerate(self.trainees):
            views = {name: self._views(part[row]) for name, part in {"": self.flat.data, **moments}.items()}
            for name, parameter in trainee.network.named_parameters():
                parameter.data = views[""][name]
                trainee.optimiser.state[parameter] = {
                    "step": steps, **{moment: views[moment][name] for moment in moments},
                }  # fmt: skip
            for name, buffer in trainee.network.named_buffers():
                if name in self.statistics:
                    buffer.data = self.statistics[name][row]

    def _views(self, flat: Tensor) -> dict[str, Tensor]:
        """Return the parameters of a network, or of each of several, by name."""
        parts = torch.split(flat, self._sizes, -1)
        return {
            name: part.view(*flat.shape[:-1], *shape)
            for name, part, shape in zip(self._names, parts, self._shapes, strict=True)
        }

    def each(self, work: Callable[..., Tensor], *given: Tensor) -> Tensor:
        """Return what a piece of work, which asks a network, makes of each network and its row of what is given."""
        asked = _Asked(self.network, work)

        def one(parameters: dict[str, Tensor], statistics: dict[str, Tensor], *row: Tensor) -> Tensor:
            state = {f"network.{name}": tensor for name, tensor in {**parameters, **statistics}.items()}
            found: Tensor = functional_call(asked, state, row)
            return found

        found: Tensor = vmap(one)(self._views(self.flat), self.statistics, *given)
        return found

    def set_learning_rate(self, rate: float) -> None:
        """Set the rate of the next steps."""
        if isinstance(self.rate, Tensor):
            self.rate.fill_(rate)
        else:
            self._optimiser.param_groups[0]["lr"] = rate

    def descend(self, losses: Tensor, gradient_norm: float) -> None:
        """Take a step with each network down the gradient of its own loss, clipped to a norm by itself."""
        self.flat.grad = None
        torch.autograd.backward(losses.sum())
        gradient = self.flat.grad
        assert gradient is not None
        norms = torch.linalg.vector_norm(gradient, dim=1, keepdim=True)
        gradient.mul_((gradient_norm / (norms + 1e-6)).clamp(max=1.0))  # as torch's clip_grad_norm_ has it
        self._optimiser.step()


class _Asked(nn.Module):
    """A network with a piece of work that asks it, as one module."""

    def __init__(self, network: PolicyNetwork, work: Callable[..., Tensor]) -> None:
        super().__init__()
        self.network, self._work = network, work

    def forward(self, *given: Tensor) -> Tensor:
        return self._work(self.network, *given)


class StackedStrategies(NetworkStrategies):
    """The strategies of all runs, each for its own games."""

    def __init__(self, first: NetworkStrategies, stacks: Sequence[Stack], game: Game, runs: int) -> None:
        super().__init__(first.networks, game, 0)
        self.trained = first.trained  # all runs are in the same iteration
        self._stacks, self._runs = stacks, runs

    def _values(self, player: int, seen: Tensor, legal: Tensor) -> Tensor:
        apart = (each.view(self._runs, -1, *each.shape[1:]) for each in (seen, legal))
        return self._stacks[player].each(_of_legal, *apart).flatten(0, 1)


class StackedRegression:
    """The regressions of all runs for one of their networks."""

    def __init__(self, stack: Stack, regressions: Sequence[Regression]) -> None:
        self.stack, self.regressions = stack, regressions
        first = regressions[0]
        count, device = len(regressions), first.sim.device
        self._items = Items(*(part.new_empty((count, *part.shape)) for part in first.items))
        self._rows = torch.arange(first.batch, device=device)
        self._number = torch.zeros((), dtype=torch.int64, device=device)
        self._losses = torch.zeros(count, device=device)
        self._train = Replay(device)

    def learn(self, batches: int, scale: float, generators: Sequence[torch.Generator]) -> list[float]:
        """Train all networks on this many minibatches (`Regression.learn`); return the mean loss of each."""
        self._losses.zero_()
        first, done = self.regressions[0], 0
        dice = zip(self.regressions, generators, strict=True)
        for laid_out in zip(*(each.lay_out(batches, scale, own) for each, own in dice), strict=True):
            for column, parts in zip(
                self._items, zip(*(each.items for each in self.regressions), strict=True), strict=True
            ):
                torch.stack(parts, out=column)
            self._number.zero_()
            for number in range(done, done + laid_out[0]):
                self.stack.set_learning_rate(first.rate_at(number, batches))
                self._train(self._train_batch)
            done += laid_out[0]
        losses: list[float] = (self._losses / batches).tolist()
        return losses

    def _train_batch(self) -> None:
        """Take a step on the next of the minibatches that are laid out."""
        rows = self._number * len(self._rows) + self._rows
        first = self.regressions[0]

        def error(network: PolicyNetwork, *items: Tensor) -> Tensor:
            return first.error(network, Items(*items))

        losses = self.stack.each(error, *(column[:, rows] for column in self._items))
        self.stack.descend(losses, first.gradient_norm)
        self._losses += losses.detach()
        self._number += 1


def _flattened(tensors: Iterable[Tensor]) -> Tensor:
    return torch.cat([each.detach().flatten() for each in tensors])


def _of_legal(network: PolicyNetwork, seen: Tensor, legal: Tensor) -> Tensor:
    return network.of_legal(seen, legal)
