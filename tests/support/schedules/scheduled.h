// Compares a program under a schedule with the same program as written: the results must be equal.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/schedule/schedule.h"
#include "ferry/target/target.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <cstdint>
#include <map>
#include <string>

namespace ferry::test {

using Sizes = std::map<std::string, std::int64_t>;

// Lowers `source` (one function in the text notation) with the schedule, runs it in the interpreter as lowered and
// after the passes of a CPU with registers of 128, 256 or 512 bits, with tiles if they are used, and, if it has loops
// for one, of CUDA's or OpenCL's GPU, and compares every output bit for bit with the unscheduled program's. Which of
// them is drawn, by the loops; FERRY_SCHEDULES_SEED draws others, and with FERRY_SCHEDULES_ALL, as in lower_long_test,
// it is all. Use integers, or floats whose order of operations the schedule keeps.
void check_schedule(const std::string& source, const std::string& schedule, const Sizes& sizes = {});
void check_schedule(const lang::Program& program, const std::string& schedule, const Sizes& sizes = {});

// Returns the lowered loops as text.
std::string lowered_text(const std::string& source, const std::string& schedule);

// Returns for each buffer the number of elements stored, with constant sizes, before the passes.
std::map<std::string, std::int64_t> points_computed(const std::string& source, const std::string& schedule);

// Returns the function after all passes.
ir::Function compiled(const std::string& source, const std::string& schedule, const Target& target);

// Returns the interpreter's error; "none" if there is none.
std::string complaint(const ir::Function& function, const Sizes& sizes);

// Returns the message of the CompileError; fails the test if there is none.
std::string refusal(const std::string& source, const std::string& schedule);

}  // namespace ferry::test
