// The ferry with a compiler, as a function that a program of a line calls.
#pragma once

#include "ferry/api.h"

namespace ferry::cli {

// Does what the words of the command line say, and returns the exit code of the process.
FERRY_API int run_program(int count, char** words);

}  // namespace ferry::cli
