"""What is looked for in the votes, by :mod:`bayes_arena.trust.judging`.

=========  ==============================================================
drips      small accounts against the rest
blocs      who pulls together: campaigns and camps
pulls      everybody's residuals, in which blocs are found
kernels    compiled loops over these
readings   what kind everybody is, from several sides
verdict    which reading counts, and when nobody can be judged
=========  ==============================================================
"""
