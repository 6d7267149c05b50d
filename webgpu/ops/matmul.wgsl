template expression(float32 int32): arguments = product: $value; result = product;
