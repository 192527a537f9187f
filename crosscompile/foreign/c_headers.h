// <math.h> and <string.h> with what devices offer: kernels are compiled without a C library, but may use its names.
#pragma once

#include "crosscompile/link/temporary_folder.h"
#include "ferry/target/target.h"

namespace ferry::foreign {

// Writes the headers into the folder. The compiler itself provides <stdint.h>, <stddef.h>, <float.h> and the
// intrinsics.
void write_c_headers(const link::TemporaryFolder& folder, const Target& target);

}  // namespace ferry::foreign
