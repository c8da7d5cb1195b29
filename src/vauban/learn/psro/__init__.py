"""Policy-space response oracles: a population that grows towards equilibrium (docs/psro.md).

To be read in this order:

    schemes      the six algorithms, as data
    workshop     the interface of whatever trains policies
    pipeline     the loop: train, measure, freeze, begin anew
    ledger       the state of a population, in `payoffs.db`
    normal_form  policies that are mixed strategies of a matrix game
    experiment   the experiment on random matrix games: table and plots
    folders      folders of checkpoints
    exact        policies of a small game against each other, on its tree
    trees        policies that are tables of a small game, trained by exact best responses
    neural       policies that are networks, trained by the oracles of best responses
    spread       training and measuring in other processes, or on a cluster
    portrait     a population in figures and as a picture
    learner      a pipeline as a training run
"""
