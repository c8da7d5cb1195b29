"""Exact answers for games that are small enough: trees, best responses, the CFR family, R-NaD, linear programs.

from vauban.solve import CFRPlus, build_tree, evaluate

tree = build_tree("leduc")
solver = CFRPlus(tree)
solver.run(200)
evaluate(tree, solver.average()).exploitability
"""

from vauban.solve.cfr import CFR, CFRPlus, ExternalSampling, OutcomeSampling, Solver
from vauban.solve.dynamics import RegularisedDynamics
from vauban.solve.evaluate import Evaluation, best_response, counterfactual_regrets, evaluate
from vauban.solve.gambit import write_efg
from vauban.solve.linear import MatrixEquilibrium, TreeEquilibrium, solve_matrix, solve_tree
from vauban.solve.matrix import fictitious_play, matrix_nash_conv, regret_matching_plus
from vauban.solve.policies import GivesProbabilities, Policy, first, joined, mixed, tabulate, uniform
from vauban.solve.tree import Table, Tree, build_tree

__all__ = [
    "CFR",
    "CFRPlus",
    "Evaluation",
    "ExternalSampling",
    "GivesProbabilities",
    "MatrixEquilibrium",
    "OutcomeSampling",
    "Policy",
    "RegularisedDynamics",
    "Solver",
    "Table",
    "Tree",
    "TreeEquilibrium",
    "best_response",
    "build_tree",
    "counterfactual_regrets",
    "evaluate",
    "fictitious_play",
    "first",
    "joined",
    "matrix_nash_conv",
    "mixed",
    "regret_matching_plus",
    "solve_matrix",
    "solve_tree",
    "tabulate",
    "uniform",
    "write_efg",
]
