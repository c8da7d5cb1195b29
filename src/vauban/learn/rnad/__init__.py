"""Regularised Nash dynamics (R-NaD), after DeepNash: a learner without search for games of hidden information."""
