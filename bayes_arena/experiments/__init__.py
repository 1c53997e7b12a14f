"""Experiments on annotators and optimisers: perturbed and rigged votes, descents, and how to score what comes out.

Liu et al., "am-ELO: A Stable Framework for Arena-based LLM Evaluation", ICML 2025, sections 5.4 and 5.5.

============  ======================================================
descent       gradient descent by Adam, as in the authors' program
perturbation  annotators that vote otherwise than they did
honest        honest votes of a crowd whose habits and tastes are known
rigging       votes cast to move one competitor, added to others
measures      consistency, precision and recall
stability     rankings under perturbed annotators
detection     finding perturbed annotators
paper/        every table and figure of the paper
============  ======================================================
"""
