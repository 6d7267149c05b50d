// Selects the bits of one of two elements. Dtypes with elements of the same size share a function.
template expression(bits8 bits16 bits32 bits64):
    arguments = condition: bool, x1: $value, x2: $value; result = select(x2, x1, condition);
