"""The paper's experiments: descents by Adam, perturbed annotators, and how to score what comes out.

Liu et al., "am-ELO: A Stable Framework for Arena-based LLM Evaluation", ICML 2025, sections 5.4 and 5.5.
"""
