// --arg, --size and --seed: how a subcommand calls its kernel.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

#include "host/kernel/call_plan.h"

namespace ferry::cli {

enum class DefaultSeed : std::uint8_t {
  zero,
  drawn,  // another one in each command, so that no kernel knows beforehand what it is measured with
};
void add_call_options(CLI::App& command, CallOptions& options, DefaultSeed seed = DefaultSeed::zero);

// Returns an unpredictable number below 2^48, which every reader of JSON keeps exactly.
std::uint64_t random_seed();

}  // namespace ferry::cli
