// Asks before code of others runs on this machine: the modules in a store are native code, and whoever can store one
// may be anybody with a key of the farm, or who can write to the folder.
#pragma once

#include <CLI/CLI.hpp>

#include "host/gate/run/case_run.h"

namespace ferry::cli {

// Adds --trust-baseline.
void add_trust_option(CLI::App& command, bool& is_trusted);

// Asks on a terminal, once for each holder; elsewhere it refuses. With `is_trusted` it does neither.
gate::TrustHolder ask_for_trust(bool is_trusted);

}  // namespace ferry::cli
