"""The goals for a page in Chromium, and what measures them there."""
