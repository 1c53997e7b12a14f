"""The Stable Arena: votes come in, rounds go out, all in one file.

=============  =============================================
stable_arena   ``StableArena``
rules          who takes part in a round, and whom it judges
store          the file: transactions, copies, recovery
layout         its tables
stored_votes   votes in it
stored_slices  prompts, slices and features of votes in it
stored_rounds  rounds in it
=============  =============================================
"""
