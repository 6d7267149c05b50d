"""NumPy models of operations that promise the same bits everywhere, and the tests that compare the two."""
