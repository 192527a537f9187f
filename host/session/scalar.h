// A number as a parameter's type stores it.
#pragma once

#include <cstdint>

#include "host/session/ferry.h"

namespace ferry::session {

// The value in the low bytes. RemoteError with invalid_argument, in the words of a call's other errors, when the
// parameter's type cannot hold it: a fraction for an integer, or a number out of range.
std::uint64_t scalar_bits(const FunctionInfo& function, std::size_t parameter, const Argument::Scalar& value);

}  // namespace ferry::session
