"""Adds and sums vectors and multiplies matrices on each backend. Returns the results, or why a backend is missing."""

import lanewise as lw

found: dict[str, object] = {}
for backend in lw.backends():
    if backend.available:
        with lw.use_backend(backend.name):
            product = lw.matmul([[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]])
            total = lw.sum(lw.add(lw.full((1000,), 0.25), lw.full((1000,), 0.5)))
        found[backend.name.value] = [product.backend.value, product.tolist(), float(total)]
    else:
        found[backend.name.value] = backend.reason

dict(found)
