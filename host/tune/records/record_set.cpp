#include "host/tune/records/record_set.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

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

// An algorithm and the values of a point.
using Point = std::pair<std::string, std::vector<std::string>>;

Point point_of(const TuneRecord& record) { return {record.algorithm, record.values}; }

// The newest comparison of each point in each place.
using Comparisons = std::map<Point, std::map<Place, const TuneRecord*>>;

// Whether what was found in a place counts in another one. Where the record does not say more than the network's name,
// it counts in all networks of this name.
bool counts_in(const Place& found_in, const Place& place) {
  return found_in == place || (found_in.graph.empty() && !place.network.empty() && found_in.network == place.network);
}

Comparisons comparisons_of(const Records& task) {
  Comparisons all;
  for (const TuneRecord* record : task) {
    if (!record->confirmed || !share_of_default(*record)) continue;
    const TuneRecord*& last = all[point_of(*record)][place_of(*record)];
    if (last == nullptr || record->unix_ms >= last->unix_ms) last = record;
  }
  return all;
}

// Whether a comparison in this place, or a newer one in the record's own place, decides about the record's point.
bool is_settled_otherwise(const TuneRecord& record, const Comparisons& comparisons, const Place& here) {
  const auto point = comparisons.find(point_of(record));
  if (point == comparisons.end()) return false;
  const Place own = place_of(record);
  const bool is_from_here = counts_in(own, here);
  for (const auto& [place, last] : point->second) {
    const bool decides_here = counts_in(place, here);
    if (record.confirmed && !is_from_here && decides_here) return true;
    if (record.confirmed && place != own && !(is_from_here && decides_here)) continue;
    if (last->unix_ms > record.unix_ms) return true;
  }
  return false;
}

// Returns those that may be chosen in a place among the records of one task, the best first.
Records ranked(const Records& task, const Place& here) {
  std::set<Hash> faulty;
  const TuneRecord* newest = nullptr;
  for (const TuneRecord* record : task) {
    if (is_faulty(record->outcome)) faulty.insert(record->code);
    if (!share_of_default(*record)) continue;
    if (newest == nullptr || record->unix_ms >= newest->unix_ms) newest = record;
  }
  const Comparisons comparisons = comparisons_of(task);
  Records found;
  for (const TuneRecord* record : task)
    if (share_of_default(*record) && !faulty.contains(record->code) && record->default_code == newest->default_code &&
        !is_settled_otherwise(*record, comparisons, here))
      found.push_back(record);
  // Points that were not faster than the default here come last, because those that were confirmed elsewhere may be.
  const auto is_faster_here = [&](const TuneRecord& record) {
    return counts_in(place_of(record), here) && is_faster_than_default(record);
  };
  std::ranges::stable_sort(found, [&](const TuneRecord* a, const TuneRecord* b) {
    if (a->confirmed != b->confirmed) return a->confirmed;
    if (a->confirmed && is_faster_here(*a) != is_faster_here(*b)) return is_faster_here(*a);
    const double first = *share_of_default(*a), second = *share_of_default(*b);
    return first != second ? first < second : a->unix_ms > b->unix_ms;
  });
  return found;
}

// Returns the `most` best of each place, and what comparisons in all places say of their points.
std::set<const TuneRecord*> best_of_places(const Records& task, std::size_t most) {
  const Comparisons comparisons = comparisons_of(task);
  std::set<Place> places{Place()};
  for (const auto& [of, in_places] : comparisons)
    for (const auto& [place, record] : in_places) places.insert(place);
  std::set<const TuneRecord*> best;
  for (const Place& place : places) {
    const Records found = ranked(task, place);
    for (std::size_t r = 0; r < std::min(most, found.size()); ++r) {
      best.insert(found[r]);
      const auto point = comparisons.find(point_of(*found[r]));
      if (!found[r]->confirmed || point == comparisons.end()) continue;
      for (const auto& [other, record] : point->second) best.insert(record);
    }
  }
  return best;
}

// The same, and the best without algorithms: not everyone who uses the records may use these.
std::set<const TuneRecord*> best_with_and_without_algorithms(const Records& task, std::size_t most) {
  std::set<const TuneRecord*> best = best_of_places(task, most);
  Records schedules = task;
  std::erase_if(schedules, [](const TuneRecord* record) { return !record->algorithm.empty(); });
  if (schedules.size() < task.size()) best.merge(best_of_places(schedules, most));
  return best;
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

std::optional<TuneRecord> best_record(const std::vector<TuneRecord>& records, const TaskKey& key, const Place& place) {
  Records task;
  for (const TuneRecord& record : records)
    if (record.key == key) task.push_back(&record);
  const Records found = ranked(task, place);
  return found.empty() ? std::nullopt : std::optional(*found.front());
}

std::vector<TuneRecord> best_records(const std::vector<TuneRecord>& records) {
  std::vector<TuneRecord> best;
  for (const auto& [key, task] : tasks_of(records)) {
    const std::set<const TuneRecord*> kept = best_with_and_without_algorithms(task, 1);
    for (const TuneRecord* record : task)
      if (kept.contains(record)) best.push_back(*record);
  }
  return best;
}

std::vector<TuneRecord> prune_records(std::vector<TuneRecord> records, std::size_t most) {
  const std::map<TaskKey, Records> tasks = tasks_of(records);
  std::set<const TuneRecord*> kept;
  for (const auto& [key, task] : tasks) {
    kept.merge(best_with_and_without_algorithms(task, most));
    for (const TuneRecord* record : task)
      if (is_failure(record->outcome)) kept.insert(record);
  }
  std::vector<TuneRecord> left;
  for (TuneRecord& record : records)
    if (kept.contains(&record)) left.push_back(std::move(record));
  return left;
}

}  // namespace ferry::tune
