#include "tests/support/farm/describe.h"

#include <set>

#include "base/format.h"
#include "base/printable.h"
#include "farm/store/record_text.h"

namespace ferry::test {
namespace {

template <class T>
unsigned long long number(T value) {
  return static_cast<unsigned long long>(value);
}

long long milliseconds(farm::Time time) { return time.time_since_epoch().count(); }

std::string line(const farm::BoardRecord& board) {
  return format("board %llu %s enrolled %s machine '%s' %d state %d boot %llu baseline %d epoch %llu", number(board.id),
                farm::description_text(board.description).value().c_str(),
                farm::tags_text(board.enrolled_tags).value().c_str(), printable(board.machine).c_str(),
                board.shares_machine, static_cast<int>(board.state), number(board.boot_id),
                board.baseline_millidegrees.value_or(-1'000'000), number(board.last_epoch));
}

std::string line(const farm::Request& request, farm::Time submitted) {
  return format("request %llu of '%s' for %s priority %u length %lld wait %lld kind %d %d submitted %lld",
                number(request.id), printable(request.holder).c_str(), farm::slots_text(request.slots).value().c_str(),
                request.priority, static_cast<long long>(request.length.count()),
                static_cast<long long>(request.wait.count()), static_cast<int>(request.kind), request.is_health_check,
                milliseconds(submitted));
}

std::string line(const std::vector<farm::LeasePart>& parts) {
  std::string text;
  for (const farm::LeasePart& part : parts) text += format(" %llu@%llu", number(part.board), number(part.epoch));
  return text;
}

}  // namespace

std::string describe(const farm::Snapshot& snapshot) {
  std::set<std::string> lines;
  for (const farm::BoardRecord& board : snapshot.boards) lines.insert(line(board));
  for (const farm::RequestRecord& record : snapshot.requests) lines.insert(line(record.request, record.submitted));
  for (const farm::LeaseRecord& lease : snapshot.leases)
    lines.insert(format("lease %llu from %lld to %lld, set at %lld, extension %u on", number(lease.id),
                        milliseconds(lease.start), milliseconds(lease.end), milliseconds(lease.set_at),
                        lease.extension) +
                 line(lease.parts));
  for (const farm::HolderRecord& holder : snapshot.holders)
    lines.insert(format("holder '%s' %a %a %lld", printable(holder.holder).c_str(), holder.weight, holder.board_seconds,
                        milliseconds(holder.at)));
  for (const farm::HoldTimeRecord& hold : snapshot.hold_times)
    lines.insert(format("hold time %llu %a", number(hold.board), hold.mean_seconds));
  std::string text;
  for (const std::string& one : lines) text += one + '\n';
  return text;
}

std::string describe(const farm::EndedLease& lease) {
  return line(lease.request, lease.submitted) +
         format(" from %lld to %lld: %s '%s' on", lease.start ? milliseconds(*lease.start) : -1,
                milliseconds(lease.ended), end_reason_name(lease.reason), printable(lease.text).c_str()) +
         line(lease.parts);
}

std::string describe(const farm::NumberedAuditEntry& numbered) {
  const farm::AuditEntry& entry = numbered.entry;
  return format("%llu at %lld '%s' %s board %llu '%s'", number(numbered.number), milliseconds(entry.at),
                printable(entry.actor).c_str(), printable(entry.action).c_str(),
                number(entry.board.value_or(farm::BoardId{})), printable(entry.text).c_str());
}

std::string describe(const farm::NumberedHealthEntry& numbered) {
  const farm::HealthEntry& entry = numbered.entry;
  return format("%llu board %llu at %lld '%s' %llu ps baseline %llu ps '%s' %d '%s'", number(numbered.number),
                number(entry.board), milliseconds(entry.at), printable(entry.job).c_str(), number(entry.picoseconds),
                number(entry.baseline_picoseconds), printable(entry.verdict).c_str(),
                entry.millidegrees.value_or(-1'000'000), printable(entry.text).c_str());
}

std::string describe(const farm::NumberedSessionEntry& numbered) {
  const farm::SessionEntry& session = numbered.entry;
  return format("%llu board %llu ended %lld after %lld lease %llu of '%s' by '%s': '%s'", number(numbered.number),
                number(session.board), milliseconds(session.ended), static_cast<long long>(session.length.count()),
                number(session.lease), printable(session.holder).c_str(), printable(session.client).c_str(),
                printable(session.failure).c_str());
}

std::string describe(const farm::HealthState& state) {
  return format("board %llu: '%s'", number(state.board), printable(state.state).c_str());
}

}  // namespace ferry::test
