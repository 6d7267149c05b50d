"""Which backends there are, which one runs, and what they need."""
