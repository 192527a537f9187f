// Generates random schedules: directives in random order with random axes and numbers. Illegal directives are refused,
// and a refused directive must leave nothing behind.
#pragma once

#include "ferry/schedule/schedule.h"
#include "ferry/target/target.h"
#include "host/schedule/stages/scheduled_stage.h"
#include "tests/fuzz/cases/random.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace ferry::fuzz {

struct ScheduleListener {
  std::function<void(const std::string& directive)> trying;
  std::function<void(const std::string& directive)> accepted;
  std::function<void(const std::string& directive, const std::string& sentence)> refused;
};

struct GeneratedSchedule {
  schedule::Schedule schedule;
  std::size_t by_default = 0;  // number of leading directives that come from the target's default schedule
};

// Generates a schedule for a program that is called with these sizes, starting either empty, from the default
// schedule, or from other points of its spaces. Throws std::runtime_error if a refused directive changed the schedule's
// text.
GeneratedSchedule generate_schedule(const lang::Program& program, const Target& target,
                                    const std::map<std::string, std::int64_t>& sizes, Random& random,
                                    const ScheduleListener& listener);

}  // namespace ferry::fuzz
