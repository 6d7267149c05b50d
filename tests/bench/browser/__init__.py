"""The performance goals for a page in Chromium: `python -m tests.bench --goals --backends browser`."""
