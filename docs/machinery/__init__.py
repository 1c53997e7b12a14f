"""Pages that are made from the package, and what is made from pages.

===========  =========================================================================
reference    the pages of the public names, from ``bayes_arena/__init__.pyi``
contents     the table of contents, from what index pages list
links        where the names in docstrings lead
commands     the pages of the commands, from their help
notebooks    the notebooks, with the outputs that they are kept with
mathml       formulas as MathML, which needs no script
llms         ``llms.txt``: a table of contents in plain Markdown
pages        where those that are written lie
===========  =========================================================================
"""
