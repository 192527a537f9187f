#include "host/tune/recorded_schedules.h"

#include "base/hash_stream.h"
#include "base/hex.h"
#include "base/throw_status.h"
#include "host/tune/records/record_file.h"
#include "host/tune/records/record_set.h"
#include "host/tune/replay.h"
#include "host/tune/task/device_key.h"
#include "host/tune/task/program_hash.h"

#include <cstdio>
#include <cstdlib>
#include <set>

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

const std::vector<TuneRecord>& RecordedSchedules::records_of(const Hash& program) const {
  const std::lock_guard lock(mutex_);
  if (!text_) text_ = value_or_throw(read_record_text(file_));
  const auto [records, is_new] = records_.try_emplace(program);
  if (is_new) records->second = records_in(*text_, program).records;
  return records->second;
}

std::optional<TunedSchedule> RecordedSchedules::find(const lang::Program& program, const SizesByName& sizes,
                                                     const Target& target, const ScheduleText* schedule) const {
  const TaskKey key{program_hash(program, sizes),
                    schedule != nullptr ? std::optional(schedule_hash(*schedule)) : std::nullopt,
                    device_key(target, threads_)};
  const std::optional<TuneRecord> best = best_record(records_of(key.program), key);
  if (!best || !best->confirmed || best->values.empty()) return std::nullopt;
  const double share = *share_of_default(*best);
  const ReplayedTask task{compiler_, program, sizes, target, schedule};
  if (share > 1 - kLeastGain || !applies(*best, task)) return std::nullopt;
  const bool is_as_measured = best->version == version_of(compiler_, target) || has_same_code(*best, task);
  if (!is_as_measured && share > 1 - kLeastGainOfOtherCode) return std::nullopt;
  std::string note = "the schedule is from " + file_ + ": " + gain_text(share) + " times as fast as " +
                     (schedule != nullptr ? "with the first choice of each knob" : "the default");
  if (!is_as_measured) note += ", as another build of ferry compiled both: 'ferry records verify' measures them again";
  return TunedSchedule{best->values, best->point, std::move(note)};
}

Hash RecordedSchedules::identity(const Target& target) const {
  std::vector<TuneRecord> records;
  {
    const std::lock_guard lock(mutex_);
    if (!text_) text_ = value_or_throw(read_record_text(file_));
    if (!all_) all_ = records_in(*text_).records;
    records = *all_;
  }
  std::set<DeviceKey> devices{device_key(target, threads_)};
  if (target.host != nullptr) devices.insert(device_key(*target.host, threads_));
  std::erase_if(records, [&](const TuneRecord& record) {
    return record.key.schedule.has_value() || !devices.contains(record.key.device);
  });
  HashStream hash;
  const auto add = [&](const std::string& text) {
    hash.add({reinterpret_cast<const std::uint8_t*>(text.c_str()), text.size() + 1});
  };
  for (const TuneRecord& best : best_records(records)) {
    if (!best.confirmed) continue;
    hash.add(best.key.program);
    hash.add(best.code);
    add(best.version);
    add(std::to_string(*share_of_default(best)));
    for (const std::string& value : best.values) add(value);
  }
  return hash.finish();
}

std::string user_records() {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && data[0] == '/') return std::string(data) + "/ferry/records.jsonl";
  const char* home = std::getenv("HOME");
  return home == nullptr || home[0] == '\0' ? "" : std::string(home) + "/.local/share/ferry/records.jsonl";
}

}  // namespace ferry::tune
