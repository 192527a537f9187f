// Chooses among records.
#pragma once

#include "host/tune/records/tune_record.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace ferry::tune {

// Returns the records of all lists in the order of their times, equal ones once.
std::vector<TuneRecord> merge_records(std::vector<std::vector<TuneRecord>> lists);

// Returns the record of the task that took the smallest share of the default schedule's time, the newest of equal ones;
// nothing if none was measured together with it. Times of different runs are not compared, because a device is not as
// fast on every day. Code that crashed, hung or computed something wrong in any record of the task is left out, and so
// are measurements beside another default schedule than the newest one has. A record that was confirmed comes before
// those that were measured once, because the best of many measurements is often a lucky one, and takes the place of all
// earlier ones of its point.
std::optional<TuneRecord> best_record(const std::vector<TuneRecord>& records, const TaskKey& key);

// Returns the best record of each task, in the order of their keys; of a task without one nothing.
std::vector<TuneRecord> best_records(const std::vector<TuneRecord>& records);

// Keeps of each task the `most` records that best_record() would choose one after the other, and those that say that a
// schedule failed, so that nobody tries it again. Keeps their order.
std::vector<TuneRecord> prune_records(std::vector<TuneRecord> records, std::size_t most);

}  // namespace ferry::tune
