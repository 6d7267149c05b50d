"""Cells drawn from the whole surface of operations, shapes, axes, layouts and dtypes, timed next to the best peer."""
