"""The Stable Arena: votes come in, rounds go out, all in one file.

============  ========================================================
stable_arena  ``StableArena``
rules         who takes part in a round, and whom it judges
store         the file: transactions, copies, recovery
schema        its tables
votes         votes in it, with their prompts, slices and features
rounds        rounds in it, and decisions about annotators
============  ========================================================
"""
