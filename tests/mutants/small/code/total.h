#pragma once

#define LIMIT 8.0
enum { SHIFT = 3 };
