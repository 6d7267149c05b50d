"""How long calls take, measured: what calibrate() stores and what follows from it."""
