"""The performance goals for WebGPU on an NVIDIA H200: `python -m tests.bench --goals --backends wgpu`.

table.py      the goals
work.py       what each goal measures: tensors, calls, and checks against float64
clock.py      times calls that return at once
command.py    the command
"""
