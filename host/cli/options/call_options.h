// --arg, --size and --seed: how a subcommand calls its kernel.
#pragma once

#include <CLI/CLI.hpp>

#include "host/kernel/call_plan.h"

namespace ferry::cli {

void add_call_options(CLI::App& command, CallOptions& options);

}  // namespace ferry::cli
