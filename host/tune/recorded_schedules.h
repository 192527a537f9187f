// The schedules in a file of records.
#pragma once

#include "host/compiler/api/compiler.h"
#include "host/tune/records/tune_record.h"
#include "host/tune/replay.h"

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ferry::tune {

// TuneRecord::algorithm of a network's layouts. The record's values are these.
inline constexpr const char* kLayouts = "layouts";

// A gain of less than this was not distinguished from none.
inline constexpr double kLeastGain = 0.01;
// If it was other code that was measured, the gain must be larger: the default schedule may have become better.
inline constexpr double kLeastGainOfOtherCode = 0.05;

class RecordedSchedules final : public TunedSchedules {
 public:
  // The file is read once, when something is looked up first. `threads` is how many a parallel loop may have; 0: as
  // many as the target says.
  RecordedSchedules(const Compiler& compiler, std::string file, std::uint32_t threads = 0)
      : compiler_(compiler), file_(std::move(file)), threads_(threads) {}

  // Only what was confirmed is used: the best of many single measurements is often a lucky one. A record that does not
  // apply any more (replay.h) is ignored. Where another version of ferry measured it, both schedules are compiled: if
  // their code is what was measured, the record counts like an own one. This is found out once for each record. Throws
  // Error with unavailable if the file cannot be read.
  std::optional<TunedSchedule> find(const lang::Program& program, const SizesByName& sizes, const Target& target,
                                    const ScheduleText* schedule, const NetworkIdentity& network) const override;
  // Algorithms compete with schedules: what took the smallest share of the default's time is used.
  std::optional<TunedAlgorithm> find_algorithm(const lang::Program& program, std::span<const OtherAlgorithm> others,
                                               const Target& target, const NetworkIdentity& network) const override;
  std::optional<TunedLayouts> find_layouts(const LayoutQuestion& question, const Target& target,
                                           const NetworkIdentity& network) const override;
  // Records of other devices count too, so that nothing must be parsed.
  Hash identity(const Target& target) const override;

 private:
  const std::string& text() const;
  const std::vector<TuneRecord>& records_of(const Hash& program) const;
  // Returns the best record of a task that is confirmed and faster than the default.
  std::optional<TuneRecord> best_of(const TaskKey& key, const NetworkIdentity& network,
                                    std::span<const OtherAlgorithm> others) const;
  // Returns the schedule that a record stands for; nothing if it does not apply.
  std::optional<TunedSchedule> schedule_of(const TuneRecord& record, const ReplayedTask& task) const;
  bool is_as_measured(const TuneRecord& record, const ReplayedTask& task) const;

  const Compiler& compiler_;
  std::string file_;
  std::uint32_t threads_;
  mutable std::mutex mutex_;
  mutable std::optional<std::string> text_;                  // the file's
  mutable std::map<Hash, std::vector<TuneRecord>> records_;  // those that were looked up, by program
  mutable std::optional<Hash> identity_;
  mutable std::map<std::array<Hash, 3>, bool> same_code_;  // has_same_code(), by program and both codes
};

// "1.31": how many times as fast as the default code is that takes this share of its time.
std::string gain_text(double share);

// Returns the place of a network's kernels as records have it.
Place place_in(const NetworkIdentity& network);

// Returns the version of a compiler as records have it.
std::string version_of(const Compiler& compiler, const Target& target);

// Returns the file of the user's own records, whose folder may not exist yet; empty if the user has no home.
std::string user_records();

}  // namespace ferry::tune
