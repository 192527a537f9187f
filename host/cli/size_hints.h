// The sizes that a command's arguments tell before anything is compiled, for the default schedule to be chosen by.
#pragma once

#include "host/cli/call_setup.h"
#include "host/lang/program.h"
#include "host/schedule/sized_stages.h"

namespace ferry::cli {

// From --size, from the numbers of --arg and the shapes of its tensors (of files not). What does not fit is left for
// plan_call() to refuse.
schedule::Sizes size_hints(const lang::Program& program, const CallOptions& options);

}  // namespace ferry::cli
