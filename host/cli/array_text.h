// Tensors as numpy prints them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "rpc/abi/dtype.h"

namespace ferry::cli {

// More elements than this are not worth a screen.
inline constexpr std::size_t kPrintedElements = 1000;

// Nested brackets, columns aligned, lines at most 75 wide where a row can be broken. The digits of a float are the
// fewest that give the same value back, at most eight after the point.
std::string array_text(DType dtype, std::span<const std::int64_t> shape, const void* data);

}  // namespace ferry::cli
