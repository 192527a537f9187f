// The program, except for the choice of a compiler.
#pragma once

#include "host/cli/commands/command.h"
#include "host/compiler/api/compiler.h"

namespace ferry::cli {

// Does what the words of the command line say, and returns the exit code of the process. Without a compiler, commands
// that need one are refused.
int run_command_line(int count, char** words, const Compiler* compiler, const session::Schemes& schemes,
                     const MoreCommands& more);

}  // namespace ferry::cli
