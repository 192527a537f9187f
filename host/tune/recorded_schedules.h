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
  // `file` names them in notes. `threads` is how many a parallel loop may have; 0: as many as the target says.
  RecordedSchedules(const Compiler& compiler, std::vector<TuneRecord> records, std::string file,
                    std::uint32_t threads = 0)
      : compiler_(compiler), records_(std::move(records)), file_(std::move(file)), threads_(threads) {}

  // A record whose point the space does not have any more is ignored.
  std::optional<TunedSchedule> find(const lang::Program& program, const SizesByName& sizes, const Target& target,
                                    const ScheduleText* schedule) const override;

 private:
  // Whether the space of the program's default schedule has the point.
  bool has_point(const lang::Program& program, const SizesByName& sizes, const Target& target,
                 const std::vector<std::string>& values) const;

  const Compiler& compiler_;
  std::vector<TuneRecord> records_;
  std::string file_;
  std::uint32_t threads_;
};

// Reads the file; null if it does not exist, or has no records. Throws Error with unavailable if it cannot be read.
std::shared_ptr<const TunedSchedules> read_schedules(const Compiler& compiler, const std::string& file,
                                                     std::uint32_t threads = 0);

// Returns the version of a compiler as records have it.
std::string version_of(const Compiler& compiler, const Target& target);

// Returns the file of the user's own records, whose folder may not exist yet; empty if the user has no home.
std::string user_records();

}  // namespace ferry::tune
