"""The ``bayes-arena`` command: votes in, tables out.

Modules that do the work are imported inside the commands, so that ``--help`` starts at once. Answers go to
standard output, everything else to standard error; bad input ends with a message and exit code 2, and with
``--strict`` a command that warned ends with 3, after its answer.

===========  ==========================================================
commands/    one module per group of commands
app          the application that commands register with, and warnings
options      dataclasses of options as parameters of a command
vote_source  options: where votes come from
fit_options  options: the model, the intervals, the Elo scale
output       options: how answers are written, and where; the picture beside them
headings     how a fit is described above its table, and in JSON
===========  ==========================================================
"""
