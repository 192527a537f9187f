// The program, except for the choice of a compiler.
#pragma once

#include "host/compiler/api/compiler.h"
#include "host/farm/api/farm_host.h"

namespace ferry::cli {

// Does what the words of the command line say, and returns the exit code of the process. Without a compiler, commands
// that need one are refused; without a host, those for a farm's tracker are missing.
int run_command_line(int count, char** words, const Compiler* compiler, const farm::FarmHost* host);

}  // namespace ferry::cli
