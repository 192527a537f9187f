// What a store holds after the records that a lease machine has written, in memory.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "farm/core/lease/records.h"

namespace ferry::test {

class RecordTables {
 public:
  void apply(const farm::Record& record);
  void apply(const std::vector<farm::Record>& records) {
    for (const farm::Record& record : records) apply(record);
  }
  farm::Snapshot snapshot() const;

  const std::map<farm::LeaseId, farm::RequestRecord>& requests() const { return requests_; }
  const std::map<farm::LeaseId, farm::LeaseRecord>& leases() const { return leases_; }
  const std::map<farm::LeaseId, farm::EndRecord>& history() const { return history_; }
  const farm::BoardRecord& board(farm::BoardId id) const { return boards_.at(id); }

 private:
  void put(const farm::BoardRecord& record) { boards_[record.id] = record; }
  void put(const farm::EpochRecord& record) { boards_.at(record.board).last_epoch = record.last_epoch; }
  void put(const farm::RequestRecord& record) { requests_[record.request.id] = record; }
  void put(const farm::LeaseRecord& record) { leases_[record.id] = record; }
  void put(const farm::RollbackRecord& record) { leases_.erase(record.id); }
  void put(const farm::EndRecord& record);
  void put(const farm::HolderRecord& record) { holders_[record.holder] = record; }
  void put(const farm::HoldTimeRecord& record) { hold_times_[record.board] = record; }

  std::map<farm::BoardId, farm::BoardRecord> boards_;
  std::map<farm::LeaseId, farm::RequestRecord> requests_;
  std::map<farm::LeaseId, farm::LeaseRecord> leases_;
  std::map<farm::LeaseId, farm::EndRecord> history_;
  std::map<std::string, farm::HolderRecord> holders_;
  std::map<farm::BoardId, farm::HoldTimeRecord> hold_times_;
};

}  // namespace ferry::test
