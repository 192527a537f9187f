// Random schedules: directives in random order with random axes and numbers. What is not legal is refused; what is
// refused must leave nothing behind.
#pragma once

#include "crosscompile/target/target.h"
#include "host/schedule/schedule.h"
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
  std::size_t by_default = 0;  // so many of the first directives are the target's default schedule
};

// For a program that is called with these sizes: from nothing, or from the default schedule on. Throws
// std::runtime_error when a refusal changed the schedule's text.
GeneratedSchedule generate_schedule(const lang::Program& program, const Target& target,
                                    const std::map<std::string, std::int64_t>& sizes, Random& random,
                                    const ScheduleListener& listener);

}  // namespace ferry::fuzz
