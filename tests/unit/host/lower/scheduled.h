// Holds a program under a schedule against the same program as written: the results must not differ.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"
#include "host/schedule/schedule.h"

#include <cstdint>
#include <map>
#include <string>

namespace ferry::test {

using Sizes = std::map<std::string, std::int64_t>;

// Lowers `source` (one function in the text notation) with the schedule, runs it in the interpreter as lowered and
// after the passes of three kinds of CPU and both GPUs, and compares every output, bit for bit, with the unscheduled
// program's.
// Use integers, or floats whose order of operations the schedule keeps.
void check_schedule(const std::string& source, const std::string& schedule, const Sizes& sizes = {});
void check_schedule(const lang::Program& program, const std::string& schedule, const Sizes& sizes = {});

// The lowered loops as text.
std::string lowered_text(const std::string& source, const std::string& schedule);

// How often elements of each buffer are stored, by name, with constant sizes: before the passes.
std::map<std::string, std::int64_t> points_computed(const std::string& source, const std::string& schedule);

// After all passes.
ir::Function compiled(const std::string& source, const std::string& schedule, const Target& target);

// What the interpreter finds wrong; "none" when that is nothing.
std::string complaint(const ir::Function& function, const Sizes& sizes);

// What the CompileError says; fails when there is none.
std::string refusal(const std::string& source, const std::string& schedule);

}  // namespace ferry::test
