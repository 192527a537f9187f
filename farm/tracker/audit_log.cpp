#include "farm/tracker/audit_log.h"

#include <utility>

#include "base/format.h"
#include "farm/protocol/lease_id.h"

namespace ferry::farm {
namespace {

constexpr std::chrono::hours kOneEntry{1};

}  // namespace

void AuditLog::write(const Caller& who, const std::string& action, std::optional<BoardId> board,
                     const std::string& text, std::function<void(const Status&)> then) {
  log_(who.holder + ": " + action + (board ? " " + boards_.name_of(*board) : "") + (text.empty() ? "" : " " + text));
  if (!scheduler_) return then({ErrorCode::unavailable, "this tracker does not schedule any more"});
  AuditEntry entry{scheduler_.now(), who.holder, action, board, text};
  database_.ask([entry = std::move(entry)](Store& store) { return store.add_audit_entry(entry); }, std::move(then));
}

void AuditLog::write_foreign_id(const Caller& caller, const std::string& action, std::uint64_t lease) {
  if (!scheduler_) return;
  const Time now = scheduler_.now();
  const auto [found, is_first] = foreign_ids_.try_emplace(caller.holder);
  ForeignIds& attempts = found->second;
  if (!is_first && now - attempts.written < kOneEntry) {
    ++attempts.left_out;
    return;
  }
  std::string text = "the id " + lease_text(lease) + " of another holder";
  const std::uint64_t left_out = std::exchange(attempts.left_out, 0);
  if (left_out != 0) text += format("; %llu more such attempts before", static_cast<unsigned long long>(left_out));
  attempts.written = now;
  write(caller, action + " refused", {}, text, [](const Status&) {});
}

void AuditLog::write_if_foreign(const Caller& caller, const std::string& action, std::uint64_t lease) {
  const auto request = scheduler_.machine().find_request(LeaseId{lease});
  if (request && request->request->holder != caller.holder) write_foreign_id(caller, action, lease);
}

}  // namespace ferry::farm
