// Copies the bits of an element. Dtypes with elements of the same size share a function.
template expression(bits8 bits16 bits32 bits64): result = x;
