template expression(bool): result = !x;
template expression(int32): result = ~x;
