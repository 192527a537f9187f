// The part of the C++ library that kernels can use without one: <cstdint> <cstddef> <cmath> <cstring> <algorithm>.
#pragma once

#include "crosscompile/link/temporary_folder.h"

namespace ferry::foreign {

// Writes the headers into the folder of the C headers, which they include.
void write_cpp_headers(const link::TemporaryFolder& folder);

// Returns advice to add to clang's message when the file includes another header; empty when it does not.
std::string advice_on_headers(const std::string& message);

}  // namespace ferry::foreign
