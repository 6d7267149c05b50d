"""The performance goals for a page in Chromium: `python -m tests.bench --goals --backends browser`.

table.py           the goals
command.py         the command, which opens the page and has it measure each goal
chromium_page.py   Page, which calls the functions of the page
webgpu.py          the rows for WebGPU
page/              the page: page.mjs, inside.py (which measures in Pyodide), and a module for each JavaScript peer; for
                   WebGPU gpu.py, gpu.mjs, and a module gpu_NAME for each library
limits.c           the loops that measure the engine's limits; compile_limits.py compiles them
packages.py        fetches the peers, the libraries to compare with, from npm and PyPI
"""
