#include "tests/support/farm/record_tables.h"

namespace ferry::test {

void RecordTables::apply(const farm::Record& record) {
  std::visit([&](const auto& one) { put(one); }, record);
}

void RecordTables::put(const farm::EndRecord& record) {
  requests_.erase(record.id);
  leases_.erase(record.id);
  history_[record.id] = record;
}

farm::Snapshot RecordTables::snapshot() const {
  farm::Snapshot snapshot;
  const auto copy = [](const auto& table, auto& records) {
    for (const auto& [key, record] : table) records.push_back(record);
  };
  copy(boards_, snapshot.boards);
  copy(requests_, snapshot.requests);
  copy(leases_, snapshot.leases);
  copy(holders_, snapshot.holders);
  copy(hold_times_, snapshot.hold_times);
  return snapshot;
}

}  // namespace ferry::test
