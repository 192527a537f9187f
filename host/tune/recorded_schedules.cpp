#include "host/tune/recorded_schedules.h"

#include "base/hex.h"
#include "base/quantity_text.h"
#include "base/throw_status.h"
#include "crosscompile/ir/error.h"
#include "host/tune/records/record_file.h"
#include "host/tune/records/record_set.h"
#include "host/tune/task/device_key.h"
#include "host/tune/task/program_hash.h"

#include <cstdio>
#include <cstdlib>

namespace ferry::tune {

std::string gain_text(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", 1 / share);
  return text;
}

std::string version_of(const Compiler& compiler, const Target& target) {
  constexpr std::size_t kDigits = 16;
  return to_hex(compiler.identity(target)).substr(0, kDigits);
}

bool RecordedSchedules::has_point(const lang::Program& program, const SizesByName& sizes, const Target& target,
                                  const std::vector<std::string>& values) const {
  try {
    (void)compiler_.space_at({.programs = std::span(&program, 1),
                              .sizes = sizes,
                              .point = PointText{.text = {}, .name = file_, .in_order = values}},
                             target);
    return true;
  } catch (const CompileError&) {
    return false;
  }
}

std::optional<TunedSchedule> RecordedSchedules::find(const lang::Program& program, const SizesByName& sizes,
                                                     const Target& target, const ScheduleText* schedule) const {
  const TaskKey key{program_hash(program, sizes),
                    schedule != nullptr ? std::optional(schedule_hash(*schedule)) : std::nullopt,
                    device_key(target, threads_)};
  const std::optional<TuneRecord> best = best_record(value_or_throw(read_records(file_, key.program)).records, key);
  if (!best || !best->confirmed || best->values.empty()) return std::nullopt;
  const double share = *share_of_default(*best);
  const bool is_own = best->version == version_of(compiler_, target);
  if (share > 1 - (is_own ? kLeastGain : kLeastGainOfOtherVersion)) return std::nullopt;
  const bool fits = schedule != nullptr ? best->values.size() == compiler_.knobs_of(*schedule).size()
                                        : has_point(program, sizes, target, best->values);
  if (!fits) return std::nullopt;
  std::string note = "the schedule is from " + file_ + ": " + gain_text(share) + " times as fast as " +
                     (schedule != nullptr ? "with the first choice of each knob" : "the default");
  if (!is_own) note += ", by another build of ferry: 'ferry tune --trials 0' measures it again";
  return TunedSchedule{best->values, std::move(note)};
}

std::string user_records() {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && data[0] == '/') return std::string(data) + "/ferry/records.jsonl";
  const char* home = std::getenv("HOME");
  return home == nullptr || home[0] == '\0' ? "" : std::string(home) + "/.local/share/ferry/records.jsonl";
}

}  // namespace ferry::tune
