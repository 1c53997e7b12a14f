"""What is looked for in the votes, by :mod:`bayes_arena.trust.judging`.

=========  ==============================================================
drips      small accounts against the rest
blocs      who pulls together: campaigns and camps
residuals  what plain strengths leave unexplained, where both are found
readings   what kind everybody is, from several sides
verdict    which reading counts, and when nobody can be judged
=========  ==============================================================
"""
