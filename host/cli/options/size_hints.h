// The sizes that a command's arguments determine before compilation, for choosing the default schedule.
#pragma once

#include "host/cli/options/call_setup.h"
#include "host/lang/program.h"
#include "host/schedule/sized_stages.h"

namespace ferry::cli {

// Takes sizes from --size, from the numbers of --arg and from the shapes of its tensors, except those in files.
// Mismatches are left to plan_call() to reject.
schedule::Sizes size_hints(const lang::Program& program, const CallOptions& options);

}  // namespace ferry::cli
