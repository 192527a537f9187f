#include "host/tune/records/record_set.h"

#include <algorithm>
#include <map>
#include <set>

namespace ferry::tune {

namespace {

// Whether the code must never be chosen again.
bool is_faulty(Outcome outcome) {
  switch (outcome) {
    case Outcome::crashed:
    case Outcome::hung:
    case Outcome::wrong: return true;
    case Outcome::measured:
    case Outcome::refused:
    case Outcome::too_slow: return false;
  }
  return false;
}

bool is_failure(Outcome outcome) { return is_faulty(outcome) || outcome == Outcome::refused; }

using Records = std::vector<const TuneRecord*>;

// Returns those that may be chosen among the records of one task, the best first.
Records ranked(const Records& task) {
  std::set<Hash> faulty;
  const TuneRecord* newest = nullptr;
  std::map<std::vector<std::string>, const TuneRecord*> settled;  // the newest comparison of each point
  for (const TuneRecord* record : task) {
    if (is_faulty(record->outcome)) faulty.insert(record->code);
    if (!share_of_default(*record)) continue;
    if (newest == nullptr || record->unix_ms >= newest->unix_ms) newest = record;
    if (!record->confirmed) continue;
    const TuneRecord*& last = settled[record->values];
    if (last == nullptr || record->unix_ms >= last->unix_ms) last = record;
  }
  const auto is_settled_otherwise = [&](const TuneRecord& record) {
    const auto last = settled.find(record.values);
    return last != settled.end() && last->second->unix_ms > record.unix_ms;
  };
  Records found;
  for (const TuneRecord* record : task)
    if (share_of_default(*record) && !faulty.contains(record->code) && record->default_code == newest->default_code &&
        !is_settled_otherwise(*record))
      found.push_back(record);
  std::ranges::stable_sort(found, [](const TuneRecord* a, const TuneRecord* b) {
    if (a->confirmed != b->confirmed) return a->confirmed;
    const double first = *share_of_default(*a), second = *share_of_default(*b);
    return first != second ? first < second : a->unix_ms > b->unix_ms;
  });
  return found;
}

std::map<TaskKey, Records> tasks_of(const std::vector<TuneRecord>& records) {
  std::map<TaskKey, Records> tasks;
  for (const TuneRecord& record : records) tasks[record.key].push_back(&record);
  return tasks;
}

}  // namespace

std::vector<TuneRecord> merge_records(std::vector<std::vector<TuneRecord>> lists) {
  std::vector<TuneRecord> all;
  for (std::vector<TuneRecord>& list : lists)
    for (TuneRecord& record : list) all.push_back(std::move(record));
  std::ranges::stable_sort(all, {}, &TuneRecord::unix_ms);
  // Equal records have equal times, so they are among neighbours of the same time.
  std::vector<TuneRecord> merged;
  for (TuneRecord& record : all) {
    const auto begin = std::ranges::lower_bound(merged, record.unix_ms, {}, &TuneRecord::unix_ms);
    if (std::find(begin, merged.end(), record) == merged.end()) merged.push_back(std::move(record));
  }
  return merged;
}

std::optional<TuneRecord> best_record(const std::vector<TuneRecord>& records, const TaskKey& key) {
  Records task;
  for (const TuneRecord& record : records)
    if (record.key == key) task.push_back(&record);
  const Records found = ranked(task);
  return found.empty() ? std::nullopt : std::optional(*found.front());
}

std::vector<TuneRecord> best_records(const std::vector<TuneRecord>& records) {
  std::vector<TuneRecord> best;
  for (const auto& [key, task] : tasks_of(records))
    if (const Records found = ranked(task); !found.empty()) best.push_back(*found.front());
  return best;
}

std::vector<TuneRecord> prune_records(std::vector<TuneRecord> records, std::size_t most) {
  const std::map<TaskKey, Records> tasks = tasks_of(records);
  std::set<const TuneRecord*> kept;
  for (const auto& [key, task] : tasks) {
    const Records found = ranked(task);
    kept.insert(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(std::min(most, found.size())));
    for (const TuneRecord* record : task)
      if (is_failure(record->outcome)) kept.insert(record);
  }
  std::vector<TuneRecord> left;
  for (TuneRecord& record : records)
    if (kept.contains(&record)) left.push_back(std::move(record));
  return left;
}

}  // namespace ferry::tune
