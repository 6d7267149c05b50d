"""The performance goals for a CPU, most of them for one thread: `python -m tests.bench --goals`.

table.py           the goals
limits.py          which limit of the processor applies to a case
limits.c           the loops that measure the limits; compile_limits.py compiles them
measure.py         measures each goal, as a row: makes its contestants, which runner.py times
command.py         the command
"""
