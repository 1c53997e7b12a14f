"""The experiments of Liu et al., "am-ELO: A Stable Framework for Arena-based LLM Evaluation", ICML 2025.

============  ======================================================================
reproduction  ``bayes-arena reproduce``: every table and figure from one set of votes
tables        tables 1 and 2
case_study    figures 1, 3 and 4
convergence   figure 5: m-ELO and am-ELO by Adam, as in the authors' program
perturbation  figures 6 and 7: rankings under perturbed annotators, and finding these
figures       the drawings
summaries     what is printed for each table and figure
measures      consistency of rankings; precision and recall of a detection
============  ======================================================================
"""
