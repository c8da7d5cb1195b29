"""R-NaD on the tree of a small game: what the noise of sampled games does, and what the rest of the method does.

    python scripts/rnad_on_a_tree.py rnad-leduc --steps 2000 --set rnad.games=16384
    python scripts/rnad_on_a_tree.py rnad-leduc --steps 2500 --exact

Network, losses and schedules are those of the preset (with Adam as it is there), but a step does not play games one by
one: how many of them take which way through the tree is drawn, as multinomial counts, so that a step of 100,000 games
costs what one of 100 does. With `--exact` every action has its exact worth. Policies are evaluated by those that
play, as on-policy v-trace does with c = 1. NashConv is that of the target network; it is printed every `--every` steps.
"""

from __future__ import annotations

import argparse
import copy
import json
from typing import Any

import numba
import numpy as np
import torch
from torch import Tensor

from vauban.games.base import CHANCE, game
from vauban.learn.config import load_config
from vauban.learn.rnad.learner import RNaDConfig
from vauban.learn.rnad.targets import outer_step
from vauban.nets.positions import Recorded
from vauban.nets.values import estimator
from vauban.observe import base as observations
from vauban.solve import Tree, build_tree, evaluate
from vauban.solve.walk import TERMINAL

CHANCES, END = CHANCE, TERMINAL
SEEDS = 1_000_003
"""Steps of one seed are numbered from this many times the seed."""


@numba.njit
def draw(kind, group, child, first_slot, first_event, chances, policy, games, exact, seed, counts):
    """Count by history how many games come there; exact: how many on average."""
    np.random.seed(seed)
    counts[:] = 0
    counts[0] = games
    for node in range(len(kind)):
        if kind[node] == END or counts[node] == 0:
            continue
        firsts = first_event if kind[node] == CHANCES else first_slot
        low, high, below = firsts[group[node]], firsts[group[node] + 1], child[node]
        left, rest = counts[node], 1.0
        for place in range(low, high):
            chance = chances[place] if kind[node] == CHANCES else policy[place]
            if exact:
                taken = counts[node] * chance
            elif place == high - 1:
                taken = left
            elif left <= 0:
                taken = 0.0
            else:
                taken = float(np.random.binomial(np.int64(left), min(1.0, max(0.0, chance / rest))))
            counts[below] = taken
            left -= taken
            rest -= chance
            below += 1


@numba.njit
def sampled_forces(kind, group, parent, slot, first_slot, owner, utility, policy, ratios, values, centred, eta, beta,
                   counts, forces, visits, targets):  # fmt: skip
    """Sum the forces of NeuRD by slot and the critic's targets by information set, over all games that were drawn.

    forces and targets are sums over visits; every game's advantages are held against the bound by themselves.
    """
    forces[:], visits[:], targets[:] = 0.0, 0.0, 0.0
    bonuses = np.zeros(len(owner))
    for each in range(len(owner)):
        for place in range(first_slot[each], first_slot[each + 1]):
            bonuses[each] -= eta * policy[place] * ratios[place]
    for end in range(len(kind)):
        if kind[end] != END or counts[end] <= 0:
            continue
        worth, here = utility[end], end
        while here > 0:
            above, taken = parent[here], slot[here]
            if taken >= 0:
                own = group[above]
                sign = 1.0 if owner[own] == 0 else -1.0
                gained = (sign * worth - values[own]) / policy[taken]
                low, high = first_slot[own], first_slot[own + 1]
                mean = policy[taken] * gained
                for place in range(low, high):
                    mean -= policy[place] * eta * ratios[place]
                for place in range(low, high):
                    advantage = (gained if place == taken else 0.0) - eta * ratios[place] - mean
                    if (advantage > 0 and centred[place] < beta) or (advantage < 0 and centred[place] > -beta):
                        forces[place] += counts[end] * advantage
                worth += sign * bonuses[own]
                visits[own] += counts[end]
                targets[own] += counts[end] * sign * worth
            here = above


@numba.njit
def exact_forces(kind, group, child, first_slot, first_event, chances, owner, utility, policy, ratios, centred, eta,
                 beta, counts, forces, visits, targets):  # fmt: skip
    """Sum the same with the exact worth of every action."""
    forces[:], visits[:], targets[:] = 0.0, 0.0, 0.0
    worth, gains = np.zeros(len(kind)), np.zeros(len(policy))
    for node in range(len(kind) - 1, -1, -1):
        if kind[node] == END:
            worth[node] = utility[node]
            continue
        own, below, total = group[node], child[node], 0.0
        if kind[node] == CHANCES:
            for event in range(first_event[own], first_event[own + 1]):
                total += chances[event] * worth[below]
                below += 1
            worth[node] = total
            continue
        sign = 1.0 if owner[own] == 0 else -1.0
        for place in range(first_slot[own], first_slot[own + 1]):
            gain = sign * worth[below] - eta * ratios[place]
            total += policy[place] * gain
            gains[place] += counts[node] * gain
            below += 1
        worth[node] = sign * total
        visits[own] += counts[node]
        targets[own] += counts[node] * total
    for each in range(len(owner)):
        low, high, mean = first_slot[each], first_slot[each + 1], 0.0
        for place in range(low, high):
            mean += policy[place] * gains[place]
        for place in range(low, high):
            advantage = gains[place] - mean
            if (advantage > 0 and centred[place] < beta) or (advantage < 0 and centred[place] > -beta):
                forces[place] = advantage


class Sets:
    """The information sets of a tree as a network sees them, and tables of theirs by slot."""

    def __init__(self, tree: Tree, observation: str) -> None:
        played, owner = tree.game, tree.groups.owner
        seen = observations.find(played, observation)
        squares = played.board[0] * played.board[1]
        self.seen = torch.zeros((len(owner), squares, seen.channels(played)))
        for player in (0, 1):
            own = np.flatnonzero(owner == player)
            out = torch.zeros((len(own), *self.seen.shape[1:]))
            Recorded(tree.views(own).to("cpu")).observe(observation, out)
            self.seen[torch.as_tensor(own)] = out
        there = np.arange(tree.widths.max()) < tree.widths[:, None]
        slots = np.where(there, tree.groups.first_slot[:-1, None] + np.arange(there.shape[1]), 0)
        self.legal = torch.as_tensor(np.where(there, tree.actions[slots], -1).astype(np.int16))
        self.there, self.owner, self.widths = there, owner.astype(np.int64), tree.widths
        self._places = torch.as_tensor(np.flatnonzero(there.ravel()))

    def table(self, each: Tensor) -> Any:
        """Return what is by information set and action by slot."""
        return each.detach().double().numpy()[self.there]

    def spread(self, table: Any) -> Tensor:
        """Return what is by slot by information set and action."""
        flat = torch.zeros(self.there.size).index_copy(0, self._places, torch.as_tensor(table).float())
        return flat.view(self.there.shape)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("preset", help="a preset of R-NaD on a small game, or a file")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as vauban train has it")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--every", type=int, default=250, help="steps between two measurements")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--exact", action="store_true", help="no games: the exact worth of every action")
    parser.add_argument("--alike", action="store_true", help="weigh all information sets alike that are come to")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    config = load_config(asked.preset, asked.set)
    settings = config.stages["rnad"]
    assert isinstance(settings, RNaDConfig)
    played = game(config.game, config.rules or None)
    tree = build_tree(played)
    torch.manual_seed(asked.seed)
    network = settings.network.make(played)
    target, newer, older = (copy.deepcopy(network).requires_grad_(False) for _ in range(3))
    sets, most = Sets(tree, network.observation), max(map(abs, played.utilities))
    forwards = [estimator(each, played) for each in (network, target)]
    kind, utility = tree.nodes.kind, tree.nodes.utility / most
    group, child = tree.nodes.group.astype(np.int64), tree.nodes.child.astype(np.int64)
    first_slot, first_event = tree.groups.first_slot.astype(np.int64), tree.chances.first_event.astype(np.int64)
    chances, owner = tree.chances.probability, sets.owner
    parent, slot = families(kind, group, child, first_slot, first_event)
    optimiser = torch.optim.Adam(network.parameters(), lr=1.0, betas=(settings.momentum, 0.999), eps=settings.epsilon)
    counts, forces = np.zeros(tree.histories), np.zeros(tree.slots)
    visits, targets = np.zeros(len(owner)), np.zeros(len(owner))
    eta = settings.eta / most

    def logarithms(each: Any) -> Any:
        with torch.no_grad():
            return sets.table(each.legal_log_policy(each(sets.seen)[0], sets.legal))

    log_newer, log_older = logarithms(newer), logarithms(older)
    for step in range(asked.steps):
        outer = outer_step(step, settings.durations, settings.counts)
        choices, values = forwards[0](sets.seen)
        with torch.no_grad():
            judged = forwards[1](sets.seen)[1].double().numpy() / most
        log_policy = network.legal_log_policy(choices, sets.legal)
        logits = torch.where(torch.as_tensor(sets.there), log_policy, 0.0)
        logits = logits - logits.sum(1, keepdim=True) / torch.as_tensor(sets.widths)[:, None]
        table = sets.table(log_policy)
        ratios, policy = table - (outer.alpha * log_newer + (1 - outer.alpha) * log_older), np.exp(table)
        seed = (asked.seed * SEEDS + step) % 2**31
        draw(
            kind,
            group,
            child,
            first_slot,
            first_event,
            chances,
            policy,
            float(settings.games),
            asked.exact,
            seed,
            counts,
        )
        if asked.exact:
            exact_forces(kind, group, child, first_slot, first_event, chances, owner, utility, policy, ratios,
                         sets.table(logits), eta, settings.beta, counts, forces, visits, targets)  # fmt: skip
        else:
            sampled_forces(kind, group, parent, slot, first_slot, owner, utility, policy, ratios, judged,
                           sets.table(logits), eta, settings.beta, counts, forces, visits, targets)  # fmt: skip
        some = np.maximum(visits, 1e-9)
        shares = 1 / np.array([visits[owner == player].sum() for player in (0, 1)])[owner]
        if asked.alike:
            shares = np.where(visits > 0, 2 / (some * len(owner)), 0)
        policy_loss = -(logits * sets.spread(forces * np.repeat(shares, sets.widths))).sum()
        errors = (values / most - torch.as_tensor(targets / some).float()).square()
        optimiser.zero_grad()
        (policy_loss + (torch.as_tensor(visits * shares).float() * errors).sum()).backward()
        for each in optimiser.param_groups:
            each["lr"] = settings.learning_rate.at(step + 1)
        optimiser.step()
        with torch.no_grad():
            torch._foreach_lerp_(list(target.parameters()), list(network.parameters()), settings.target_rate)
        if outer.ends:
            older.load_state_dict(newer.state_dict())
            newer.load_state_dict(target.state_dict())
            log_newer, log_older = logarithms(newer), log_newer
        if (step + 1) % asked.every == 0:
            found = [float(evaluate(tree, np.exp(logarithms(each))).nash_conv) for each in (target, network)]
            print(
                json.dumps({"step": step + 1, "m": outer.number, "target": found[0], "network": found[1]}), flush=True
            )


def families(kind: Any, group: Any, child: Any, first_slot: Any, first_event: Any) -> tuple[Any, Any]:
    """Return by history its parent, and the slot by which a player came there; −1 where it was chance."""
    parent, slot = np.zeros(len(kind), np.int64), np.full(len(kind), -1, np.int64)
    for node in np.flatnonzero(kind != END):
        firsts = first_event if kind[node] == CHANCES else first_slot
        places = np.arange(firsts[group[node]], firsts[group[node] + 1])
        below = slice(child[node], child[node] + len(places))
        parent[below] = node
        if kind[node] != CHANCES:
            slot[below] = places
    return parent, slot


if __name__ == "__main__":
    main()
