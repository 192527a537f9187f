// Converts a number to the representation of a parameter's type.
#pragma once

#include <cstdint>

#include "ferry/client.h"

namespace ferry::session {

// Returns the value in the low bytes. Throws Error with invalid_argument, worded like a call's other errors, when
// the parameter's type cannot represent it: a fraction for an integer, or a number out of range.
std::uint64_t scalar_bits(const FunctionInfo& function, std::size_t parameter, const Argument::Scalar& value);

}  // namespace ferry::session
