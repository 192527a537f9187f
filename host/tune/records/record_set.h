// Chooses among records.
#pragma once

#include "host/tune/records/tune_record.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ferry::tune {

// Returns the records of all lists in the order of their times, equal ones once.
std::vector<TuneRecord> merge_records(std::vector<std::vector<TuneRecord>> lists);

// Returns the record of the task that took the smallest share of the default schedule's time, the newest of equal ones;
// nothing if none was measured together with it. Times of different runs are not compared, because a device is not as
// fast on every day. Code that crashed, hung or computed something wrong in any record of the task is left out, and so
// are measurements beside another default schedule than the newest one has. A record that was confirmed comes before
// those that were measured once, because the best of many measurements is often a lucky one, and takes the place of all
// earlier ones of its point that were not, or that were confirmed in the same place.
//
// A kernel finds other things in the caches where other kernels run before it, so what is confirmed in one network says
// little of another one, or of the kernel by itself. A comparison in the place asked for decides
// about its point; only points that were not compared there may be chosen by comparisons in other places, and these
// come after all points that were faster there.
std::optional<TuneRecord> best_record(const std::vector<TuneRecord>& records, const TaskKey& key,
                                      const Place& place = {});

// Returns the best records of each task, in the order of their keys: that of the kernel by itself, those of the
// networks in which something was confirmed, and what comparisons in all these places say of their points. So
// best_record() of the result is that of the records, as is that of all that have no algorithm.
std::vector<TuneRecord> best_records(const std::vector<TuneRecord>& records);

// Keeps of each task and place the `most` records that best_record() would choose one after the other, with algorithms
// and without, with what
// comparisons in other places say of their points, and those that say that a schedule failed, so that nobody tries it
// again. Keeps their order.
std::vector<TuneRecord> prune_records(std::vector<TuneRecord> records, std::size_t most);

}  // namespace ferry::tune
