"""The Stable Arena: votes come in, rounds go out, all in one file.

============  ========================================================
stable_arena  ``StableArena``
store         the file: its tables, transactions, errors
votes         votes in it, with their prompts, slices and features
rounds        rounds in it: who takes part, whom they judge, what they publish
============  ========================================================
"""
