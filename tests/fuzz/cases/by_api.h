// Programs of the text notation, made again through the C++ interface.
#pragma once

#include "ferry/lang/program.h"
#include "tests/fuzz/cases/fuzz_case.h"

namespace ferry::fuzz {

// Returns a program of the same definitions, without what the text derived about the elements they read. Stages that
// are computed in sequence stay as they are. Throws CompileError where the interface refuses a definition.
lang::Program made_by_api(const lang::Program& program);

// Returns the program of a case, to which its directives belong: made again if the case says so.
lang::Program program_of(const FuzzCase& fuzz_case);

}  // namespace ferry::fuzz
