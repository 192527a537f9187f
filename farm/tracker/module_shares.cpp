#include "farm/tracker/module_shares.h"

#include "base/format.h"

namespace ferry::farm {

Status ModuleShares::begin_request(const secure::KeyId& key) {
  Use& use = use_of(key);
  if (use.waiting >= kMostWaiting) {
    return {ErrorCode::busy,
            format("%zu requests under this key wait for the farm's modules already; try again later", kMostWaiting)};
  }
  ++use.waiting;
  return {};
}

void ModuleShares::end_request(const secure::KeyId& key) { --uses_.at(key).waiting; }

Status ModuleShares::begin_transfer(const secure::KeyId& key, ConnectionNumber connection,
                                    const std::function<bool(ConnectionNumber)>& is_done) {
  std::set<ConnectionNumber>& transfers = use_of(key).transfers;
  if (transfers.contains(connection)) return {};
  if (transfers.size() >= kMostTransfers) std::erase_if(transfers, is_done);
  if (transfers.size() >= kMostTransfers) {
    return {ErrorCode::busy,
            format("%zu connections under this key send or receive modules already; try again later", kMostTransfers)};
  }
  transfers.insert(connection);
  return {};
}

Status ModuleShares::expect_audit(const secure::KeyId& key) {
  if (use_of(key).audits.available(now_()) > 0) return {};
  return {ErrorCode::busy, "too many baselines were set under this key just now; try again later"};
}

void ModuleShares::count_audit(const secure::KeyId& key) { use_of(key).audits.take(1); }

}  // namespace ferry::farm
