"""A call of each operation at a size, with its inputs: what the sweep, the loopback device and the benchmark run.

operations.py   the operations, as their contracts describe them
inputs.py       input data without NumPy
cases.py        the arguments of an operation at a size, the bytes that it moves and its FLOPs
"""
