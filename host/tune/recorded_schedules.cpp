#include "host/tune/recorded_schedules.h"

#include "base/hash_stream.h"
#include "base/hex.h"
#include "base/throw_status.h"
#include "host/tune/records/record_file.h"
#include "host/tune/records/record_set.h"
#include "host/tune/task/device_key.h"
#include "host/tune/task/program_hash.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace ferry::tune {

namespace {

constexpr std::size_t kDigits = 16;  // enough for hashes that tell few things apart

}  // namespace

std::string gain_text(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", 1 / share);
  return text;
}

Place place_in(const NetworkIdentity& network) {
  return network.name.empty() ? Place() : Place{network.name, to_hex(network.graph).substr(0, kDigits)};
}

std::string version_of(const Compiler& compiler, const Target& target) {
  return to_hex(compiler.identity(target)).substr(0, kDigits);
}

// The lock is held.
const std::string& RecordedSchedules::text() const {
  if (!text_) text_ = value_or_throw(read_record_text(file_));
  return *text_;
}

const std::vector<TuneRecord>& RecordedSchedules::records_of(const Hash& program) const {
  const std::lock_guard lock(mutex_);
  const auto known = records_.find(program);
  if (known != records_.end()) return known->second;
  return records_.emplace(program, records_in(text(), program).records).first->second;
}

// Commands look a kernel up several times, and two compilations take far longer than all else here.
bool RecordedSchedules::is_as_measured(const TuneRecord& record, const ReplayedTask& task) const {
  if (record.version == version_of(compiler_, task.target)) return true;
  const std::array<Hash, 3> key{record.key.program, record.code, record.default_code};
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = same_code_.find(key); known != same_code_.end()) return known->second;
  }
  const bool is_same = has_same_code(record, task);
  const std::lock_guard lock(mutex_);
  return same_code_.emplace(key, is_same).first->second;
}

std::optional<TuneRecord> RecordedSchedules::best_of(const TaskKey& key, const NetworkIdentity& network,
                                                     std::span<const OtherAlgorithm> others) const {
  std::vector<TuneRecord> records = records_of(key.program);
  std::erase_if(records, [&](const TuneRecord& record) {
    return !record.algorithm.empty() &&
           std::ranges::find(others, record.algorithm, &OtherAlgorithm::name) == others.end();
  });
  std::optional<TuneRecord> best = best_record(records, key, place_in(network));
  if (!best || !best->confirmed || best->values.empty() || !is_faster_than_default(*best) ||
      *share_of_default(*best) > 1 - kLeastGain)
    return std::nullopt;
  return best;
}

std::optional<TunedSchedule> RecordedSchedules::schedule_of(const TuneRecord& record, const ReplayedTask& task) const {
  const std::optional<TuneRecord> best = replayed(record, task);
  if (!best) return std::nullopt;
  const double share = *share_of_default(record);
  const bool is_as_measured = this->is_as_measured(*best, task);
  if (!is_as_measured && share > 1 - kLeastGainOfOtherCode) return std::nullopt;
  const std::string from = std::filesystem::path(file_).filename().string();
  std::string note =
      (record.algorithm.empty() ? "the schedule is from " + from
                                : "the algorithm (" + record.algorithm + ") and its schedule are from " + from) +
      ": " + gain_text(share) + " times as fast as " +
      (task.schedule != nullptr ? "with the first choice of each knob" : "the default");
  if (!is_as_measured) note += ", as another build of ferry compiled both: 'ferry records verify' measures them again";
  return TunedSchedule{best->values, best->point, std::move(note)};
}

std::optional<TunedSchedule> RecordedSchedules::find(const lang::Program& program, const SizesByName& sizes,
                                                     const Target& target, const ScheduleText* schedule,
                                                     const NetworkIdentity& network) const {
  const TaskKey key{program_hash(program, sizes),
                    schedule != nullptr ? std::optional(schedule_hash(*schedule)) : std::nullopt,
                    device_key(target, threads_)};
  const std::optional<TuneRecord> best = best_of(key, network, {});
  return best ? schedule_of(*best, {compiler_, program, sizes, target, schedule}) : std::nullopt;
}

std::optional<TunedAlgorithm> RecordedSchedules::find_algorithm(const lang::Program& program,
                                                                std::span<const OtherAlgorithm> others,
                                                                const Target& target,
                                                                const NetworkIdentity& network) const {
  const TaskKey key{program_hash(program, {}), std::nullopt, device_key(target, threads_)};
  const std::optional<TuneRecord> best = best_of(key, network, others);
  if (!best || best->algorithm.empty()) return std::nullopt;
  const auto other = std::ranges::find(others, best->algorithm, &OtherAlgorithm::name);
  std::optional<TunedSchedule> schedule =
      schedule_of(*best, {compiler_, program, {}, target, nullptr, &other->program});
  if (!schedule) return std::nullopt;
  return TunedAlgorithm{best->algorithm, *std::move(schedule)};
}

// A network with other layouts is other code for this build too, so a gain counts if it is large enough for that.
std::optional<TunedLayouts> RecordedSchedules::find_layouts(const LayoutQuestion& question, const Target& target,
                                                            const NetworkIdentity& network) const {
  std::vector<TuneRecord> records = records_of(question.key);
  std::erase_if(records, [&](const TuneRecord& record) {
    return record.algorithm != kLayouts || record.values.size() != 1 ||
           record.values.front().size() != question.by_default.size();
  });
  const TaskKey key{question.key, std::nullopt, device_key(target, threads_)};
  const std::optional<TuneRecord> best = best_record(records, key, place_in(network));
  if (!best || !best->confirmed) return std::nullopt;
  const bool is_as_measured = best->version == version_of(compiler_, target);
  const double share = *share_of_default(*best);
  if (share > 1 - (is_as_measured ? kLeastGain : kLeastGainOfOtherCode)) return std::nullopt;
  std::string note = "the layouts are from " + std::filesystem::path(file_).filename().string() + ": " +
                     gain_text(share) + " times as fast as the default's";
  if (!is_as_measured) note += ", as another build of ferry compiled both";
  return TunedLayouts{best->values.front(), std::move(note)};
}

Hash RecordedSchedules::identity(const Target&) const {
  const std::lock_guard lock(mutex_);
  if (!identity_) {
    HashStream hash;
    hash.add(hash_of_confirmed(text()));
    for (unsigned shift = 0; shift < 32; shift += 8) {
      const auto byte = static_cast<std::uint8_t>(threads_ >> shift);
      hash.add({&byte, 1});
    }
    identity_ = hash.finish();
  }
  return *identity_;
}

std::string user_records() {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && data[0] == '/') return std::string(data) + "/ferry/records.jsonl";
  const char* home = std::getenv("HOME");
  return home == nullptr || home[0] == '\0' ? "" : std::string(home) + "/.local/share/ferry/records.jsonl";
}

}  // namespace ferry::tune
