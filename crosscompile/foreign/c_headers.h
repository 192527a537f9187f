// <math.h> and <string.h> of what devices offer: kernels are compiled without a C library, but not without its names.
#pragma once

#include <string>

#include "crosscompile/link/temporary_folder.h"

namespace ferry::foreign {

// Writes them into the folder. The compiler brings <stdint.h>, <stddef.h>, <float.h> and the intrinsics itself.
void write_c_headers(const link::TemporaryFolder& folder, const std::string& arch);

}  // namespace ferry::foreign
