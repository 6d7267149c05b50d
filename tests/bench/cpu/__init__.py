"""The goals for one thread of a CPU: `python -m tests.bench --goals`.

table.py           the goals
limits.py          which limit of the processor applies to a case
limits.c           the loops that measure the limits; compile_limits.py compiles them
measure.py         rows that the engine measures as they are, and rows that need more
auto.py            the row about the backend that AUTO chooses
command.py         the command
"""
