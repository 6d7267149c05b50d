"""NumPy models of operations that promise the same bits everywhere, and tests of the operations against them."""
