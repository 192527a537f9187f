#include "host/tune/network/network_candidates.h"

#include "base/throw_status.h"
#include "host/tune/records/record_file.h"
#include "host/tune/records/record_set.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>

namespace ferry::tune {

TuneRecord algorithm_record(TuneRecord record, const std::string& algorithm, const KernelDefault& by_default,
                            double share) {
  record.key = by_default.key;
  record.function = by_default.function;
  record.algorithm = algorithm;
  record.default_code = by_default.code;
  const double seconds = record.time->seconds / share;
  record.default_time = MeasuredTime{seconds, seconds, seconds};
  return record;
}

TuneRecord with_code(TuneRecord record, const lang::Program& program, const Compiler& compiler, const Target& target) {
  lang::Program named = program;
  named.name = record.function;
  Scheduled scheduled{.programs = std::span(&named, 1)};
  scheduled.point = PointText{.text = {}, .name = "the record", .in_order = record.values};
  record.code = compiler.code_identity(compiler.compile({std::move(scheduled), target}).module);
  return record;
}

std::optional<TuneRecord> recorded_algorithm(const std::string& file, const KernelDefault& by_default,
                                             const NetworkProgram& kernel, const std::string& version,
                                             const Place& place) {
  if (file.empty()) return std::nullopt;
  std::vector<TuneRecord> records = value_or_throw(read_records(file, by_default.key.program)).records;
  std::erase_if(records, [&](const TuneRecord& record) {
    return !record.confirmed || record.version != version || place_of(record) != place ||
           std::ranges::find(kernel.others, record.algorithm, &OtherAlgorithm::name) == kernel.others.end();
  });
  std::optional<TuneRecord> best = best_record(records, by_default.key, place);
  return best && *share_of_default(*best) < 1 ? best : std::nullopt;
}

KernelCandidates in_order(std::size_t kernel, std::vector<TuneRecord> records) {
  std::ranges::stable_sort(records, {}, [](const TuneRecord& record) { return *share_of_default(record); });
  std::set<std::string> algorithms;
  std::vector<TuneRecord> others;
  KernelCandidates candidates{kernel, {}, 0};
  for (TuneRecord& record : records)
    (algorithms.insert(record.algorithm).second ? candidates.records : others).push_back(std::move(record));
  candidates.firsts = candidates.records.size();
  std::ranges::move(others, std::back_inserter(candidates.records));
  return candidates;
}

}  // namespace ferry::tune
