// Programs of the text notation, made again through the C++ interface.
#pragma once

#include "ferry/lang/program.h"

namespace ferry::fuzz {

// Returns a program of the same definitions, without what the text derived about the elements they read. Stages that
// are computed in sequence stay as they are. Throws CompileError where the interface refuses a definition.
lang::Program made_by_api(const lang::Program& program);

}  // namespace ferry::fuzz
