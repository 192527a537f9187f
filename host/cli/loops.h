// The loops of a kernel as text, at any point of the pipeline.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "crosscompile/target/target.h"
#include "host/lang/program.h"
#include "host/schedule/schedule.h"

namespace ferry::cli {

void add_after_option(CLI::App& command, std::string& after, const std::string& help);

// UsageError with all of them when there is no such pass.
void expect_pass(const std::string& name);

// Function after function. Without a pass: as lowered, with what is known of the sizes simplified away. "lower": before
// that, exactly as lowering left them.
std::string loops_text(std::span<const lang::Program> programs, std::span<const schedule::Schedule> schedules,
                       const Target& target, const std::string& after);

}  // namespace ferry::cli
