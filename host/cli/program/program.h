// The ferry with a compiler, as functions that programs of a few lines call.
#pragma once

#include "ferry/api.h"
#include "host/cli/commands/command.h"

namespace ferry::cli {

// Does what the words of the command line say, and returns the exit code of the process. `add_farm` adds the commands
// for farms, and those of a tracker if the program can be one.
int run_program(int count, char** words, decltype(MoreCommands::add_farm) add_farm);

// The same without a tracker's commands, which need more libraries than packages contain.
FERRY_API int run_packaged_program(int count, char** words);

}  // namespace ferry::cli
