"""What votes have in common.

========  =======================================================
groups    votes that go together: by annotator, prompt, ranking
graph     who can be reached from whom by comparisons
repeated  whether answers to prompts were voted on again
========  =======================================================
"""
