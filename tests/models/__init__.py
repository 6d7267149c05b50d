"""NumPy models of the operations that promise the same bits everywhere, and the tests that compare them."""
