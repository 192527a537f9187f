// Names of element types in C, from <stdint.h> and <stdbool.h>.
#pragma once

#include "ferry/types.h"

namespace ferry::ir {

// "int32_t", "bool"; of narrow floats what clang and gcc call them: "_Float16", "__bf16".
const char* c_type_name(DType type);

}  // namespace ferry::ir
