"""Functions that have no kernel of their own, and what they share."""
