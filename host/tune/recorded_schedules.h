// The schedules in a file of records.
#pragma once

#include "host/kernel/tuned_schedules.h"
#include "host/tune/records/tune_record.h"

#include <memory>
#include <string>
#include <vector>

namespace ferry::tune {

// A gain of less than this was not distinguished from none.
inline constexpr double kLeastGain = 0.01;
// If another version of ferry measured it, the gain must be larger: the default schedule may have become better.
inline constexpr double kLeastGainOfOtherVersion = 0.05;

class RecordedSchedules final : public TunedSchedules {
 public:
  // The file is read whenever something is looked up. `threads` is how many a parallel loop may have; 0: as many as the
  // target says.
  RecordedSchedules(const Compiler& compiler, std::string file, std::uint32_t threads = 0)
      : compiler_(compiler), file_(std::move(file)), threads_(threads) {}

  // Only what was confirmed is used: the best of many single measurements is often a lucky one. A record whose point
  // the space does not have any more is ignored. Throws Error with unavailable if the file cannot be read.
  std::optional<TunedSchedule> find(const lang::Program& program, const SizesByName& sizes, const Target& target,
                                    const ScheduleText* schedule) const override;

 private:
  // Whether the space of the program's default schedule has the point.
  bool has_point(const lang::Program& program, const SizesByName& sizes, const Target& target,
                 const std::vector<std::string>& values) const;

  const Compiler& compiler_;
  std::string file_;
  std::uint32_t threads_;
};

// "1.31": how many times as fast as the default code is that takes this share of its time.
std::string gain_text(double share);

// Returns the version of a compiler as records have it.
std::string version_of(const Compiler& compiler, const Target& target);

// Returns the file of the user's own records, whose folder may not exist yet; empty if the user has no home.
std::string user_records();

}  // namespace ferry::tune
