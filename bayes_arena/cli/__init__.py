"""The ``bayes-arena`` command: votes in, tables out.

Modules that do the work are imported inside the commands, so that ``--help`` starts at once. Answers go to
standard output, everything else to standard error; bad input ends with a message and exit code 2.

=========  ===========================================
main       the entry point
app        the application that commands register with
options    options that commands share
source     where votes come from
output     how tables are written
commands/  one module a group of commands
=========  ===========================================
"""
