#include "host/tune/trial_records.h"

#include "base/throw_status.h"
#include "base/unix_time.h"
#include "host/tune/records/record_file.h"

#include <cmath>

namespace ferry::tune {

TuneRecord TrialRecords::record_of(const Tried& tried) const {
  TuneRecord record;
  record.key = task_.key;
  record.function = task_.function;
  record.sizes = task_.sizes;
  record.fixed = task_.fixed;
  record.device = tried.device;
  record.l1_bytes = task_.target.l1_bytes;
  record.l2_bytes = task_.target.l2_bytes;
  record.outcome = tried.trial.outcome;
  constexpr std::size_t kMostReason = 500;
  record.reason = tried.trial.reason.substr(0, kMostReason);
  record.point = tried.point.text;
  record.values = values_in_order(tried.point);
  record.directives = tried.point.schedule;
  record.code = tried.code;
  record.time = tried.trial.time;
  record.default_code = default_code_;
  record.default_time = tried.trial.default_time;
  record.version = version_;
  record.environment = tried.environment;
  if (record.time) record.environment["method"] = bench::to_text(tried.trial.method);
  record.unix_ms = unix_milliseconds();
  return record;
}

void TrialRecords::store(TuneRecord record) const {
  if (!file_.empty()) store_record(file_, std::move(record));
}

void store_record(const std::string& file, TuneRecord record) {
  Status stored = append_record(file, record);
  for (std::string* text : {&record.directives, &record.point, &record.reason}) {
    if (stored.code() != ErrorCode::invalid_argument) break;
    text->clear();
    if (text == &record.reason && record.outcome != Outcome::measured) *text = "too long to be recorded";
    stored = append_record(file, record);
  }
  throw_failure(stored);
}

std::optional<Trial> trial_of(const bench::KernelComparison& compared) {
  if (const std::string difference = compared.difference() + compared.timed_mistake(); !difference.empty())
    return Trial{Outcome::wrong, difference};
  if (!compared.impossible().empty() || compared.processes.empty() || !std::isfinite(compared.times.high))
    return std::nullopt;
  const double slow = compared.median(0), fast = slow / compared.times.ratio;
  const Timing& timing = compared.processes.front().timings[0];
  return Trial{Outcome::measured,
               {},
               MeasuredTime{fast, slow / compared.times.high, slow / compared.times.low},
               MeasuredTime{slow, slow, slow},
               {.inputs = timing.fresh_inputs ? "fresh" : "repeated", .isolation = bench::to_text(timing.isolation)}};
}

}  // namespace ferry::tune
