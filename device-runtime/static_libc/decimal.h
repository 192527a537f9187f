// The decimal digits of a double, rounded and written as printf does. glibc's own code for this is 38 KB, because it
// also handles long double, locales and wide characters.
#pragma once

#include <cstddef>

namespace ferry::static_libc {

// Larger precisions are reduced to this one.
inline constexpr int kMaxPrecision = 60;
// Is large enough for every number: 309 digits before the point.
inline constexpr std::size_t kMaxDecimal = 309 + 1 + kMaxPrecision + 1;

// Writes the magnitude of the value without a sign and returns the length. The conversion is one of e, f, g and their
// capital letters; others are treated as e. A negative precision means 6. Nothing terminates the text.
std::size_t write_decimal(double value, char conversion, int precision, char* text);

}  // namespace ferry::static_libc
