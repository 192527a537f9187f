#include "farm/tracker/foreign_ids.h"

#include <utility>

#include "base/format.h"
#include "farm/protocol/lease_id.h"

namespace ferry::farm {

namespace {

constexpr std::chrono::hours kOneEntry{1};

}  // namespace

void audit_foreign_id(Core& core, const Caller& caller, const std::string& action, std::uint64_t lease) {
  if (!core.scheduler) return;
  const Time now = core.scheduler->now();
  const auto [found, is_first] = core.foreign_ids.try_emplace(caller.holder);
  Core::ForeignIds& attempts = found->second;
  if (!is_first && now - attempts.audited < kOneEntry) {
    ++attempts.left_out;
    return;
  }
  std::string text = "the id " + lease_text(lease) + " of another holder";
  const std::uint64_t left_out = std::exchange(attempts.left_out, 0);
  if (left_out != 0) text += format("; %llu more such attempts before", static_cast<unsigned long long>(left_out));
  attempts.audited = now;
  core.audit(caller, action + " refused", {}, text, [](const Status&) {});
}

void audit_if_foreign(Core& core, const Caller& caller, const std::string& action, std::uint64_t lease) {
  const auto request = core.scheduler->machine().find_request(LeaseId{lease});
  if (request && request->request->holder != caller.holder) audit_foreign_id(core, caller, action, lease);
}

}  // namespace ferry::farm
