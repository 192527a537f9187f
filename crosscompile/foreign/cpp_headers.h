// Of the C++ library what kernels can have without one: <cstdint> <cstddef> <cmath> <cstring> <algorithm>.
#pragma once

#include "crosscompile/link/temporary_folder.h"

namespace ferry::foreign {

// Beside the C headers, which they include.
void write_cpp_headers(const link::TemporaryFolder& folder);

// What clang's message lacks when the file asks for another header: empty when it does not.
std::string advice_on_headers(const std::string& message);

}  // namespace ferry::foreign
