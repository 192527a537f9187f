// --arg, --size and --seed: how a subcommand calls its kernel.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

#include "host/kernel/call_plan.h"

namespace ferry::cli {

enum class DefaultSeed : std::uint8_t {
  drawn,       // another one in each command, so that no kernel knows beforehand what it is measured with
  if_checked,  // 0, until draw_seed() draws one
};
// Returns the option for the seed.
CLI::Option& add_call_options(CLI::App& command, CallOptions& options, DefaultSeed seed);

// Before the results of a kernel are compared: draws a seed, unless one is given or ferry itself compiles the kernel.
// One that others have made could know beforehand what it is compared with.
void draw_seed(const CLI::Option& seed, const std::string& kernel_file, CallOptions& options);

// Returns an unpredictable number below 2^48, which every reader of JSON keeps exactly.
std::uint64_t random_seed();

}  // namespace ferry::cli
