// Prints the loops of a kernel at any point of the pipeline.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "ferry/lang/program.h"
#include "ferry/schedule/schedule.h"
#include "ferry/target/target.h"

namespace ferry::cli {

void add_after_option(CLI::App& command, std::string& after, const std::string& help);

// Throws UsageError that lists all passes when there is no such pass.
void expect_pass(const std::string& name);

// Prints function after function. Without a pass: the lowered loops after simplification with the known sizes; "lower":
// the loops before that, exactly as lowering left them.
std::string loops_text(std::span<const lang::Program> programs, std::span<const schedule::Schedule> schedules,
                       const Target& target, const std::string& after);

}  // namespace ferry::cli
