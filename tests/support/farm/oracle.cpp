#include "tests/support/farm/oracle.h"

#include <algorithm>

#include "base/format.h"

namespace ferry::test {
namespace {

// From a board's decision to end a session to the session's end.
constexpr Delay kMaxKillDelay(20);

std::string text(const lease::LeaseKey& key) {
  return format("lease %llu with epoch %llu", static_cast<unsigned long long>(key.lease),
                static_cast<unsigned long long>(key.epoch));
}

// Boards exclude each other if they have the same text here; empty: none.
std::string machine_of(const farm::BoardRecord& board) {
  if (board.shares_machine) return {};
  if (!board.machine.empty()) return "called " + board.machine;
  return board.boot_id == 0 ? std::string() : "started as " + std::to_string(board.boot_id);
}

}  // namespace

void Oracle::decided(const farm::LeaseRecord& lease, Delay remaining) {
  for (const farm::LeasePart& part : lease.parts) {
    TrueTime& end = ends_[{static_cast<std::uint64_t>(lease.id), part.epoch}];
    end = std::max(end, world_.now + remaining);
  }
}

void Oracle::committed(const farm::Record& record, const RecordTables& before) {
  const auto* lease = std::get_if<farm::LeaseRecord>(&record);
  if (lease == nullptr) return;
  if (!before.leases().contains(lease->id)) expect_free_machines(*lease, before);
  for (const farm::LeasePart& part : lease->parts)
    committed_.emplace(static_cast<std::uint64_t>(lease->id), part.epoch, lease->extension);
}

// The lease begins now. Boards may come to a machine while they are leased, so leases that run may share one.
void Oracle::expect_free_machines(const farm::LeaseRecord& lease, const RecordTables& tables) const {
  std::set<std::string> machines;
  for (const farm::LeasePart& part : lease.parts) {
    const std::string machine = machine_of(tables.board(part.board));
    if (!machine.empty() && !machines.insert(machine).second)
      world_.fail(format("lease %llu has two boards of the machine ", static_cast<unsigned long long>(lease.id)) +
                  machine);
  }
  for (const auto& [id, other] : tables.leases())
    for (const farm::LeasePart& part : other.parts)
      if (machines.contains(machine_of(tables.board(part.board))))
        world_.fail(format("lease %llu began while lease %llu had board %llu of the same machine",
                           static_cast<unsigned long long>(lease.id), static_cast<unsigned long long>(id),
                           static_cast<unsigned long long>(part.board)));
}

void Oracle::announces(const lease::LeaseKey& key, std::uint32_t extension) {
  if (!committed_.contains({key.lease, key.epoch, extension}))
    world_.fail(text(key) + " was announced before it was committed");
}

void Oracle::grants(farm::LeaseId lease, const std::vector<farm::LeasePart>& parts) {
  for (const farm::LeasePart& part : parts) {
    const lease::LeaseKey key{static_cast<std::uint64_t>(lease), part.epoch};
    if (!acknowledged_.contains({part.board, key_of(key)}))
      world_.fail(text(key) + " was granted before its board had acknowledged it");
  }
}

void Oracle::promises(const farm::LeaseRecord& lease, Delay remaining) const {
  // The heartbeat that the board's end was counted from may have been late.
  constexpr Delay kSlack = std::chrono::seconds(12);
  for (const farm::LeasePart& part : lease.parts) {
    const lease::LeaseKey key{static_cast<std::uint64_t>(lease.id), part.epoch};
    const auto end = board_ends_.find(key_of(key));
    if (end == board_ends_.end() || end->second + kSlack < world_.now + remaining - remaining / 500)
      world_.fail(text(key) + " was promised for longer than its board serves it");
  }
}

void Oracle::acknowledges(Node board, farm::BoardId id, const lease::LeaseKey& key) {
  acknowledged_.emplace(id, key_of(key));
  if (const auto session = running_.find(board); session != running_.end() && session->second.key != key)
    world_.fail(text(key) + " was acknowledged while a session of " + text(session->second.key) + " was running");
  const auto last = last_epochs_.find(board);
  if (last != last_epochs_.end() && key.epoch <= last->second)
    world_.fail(text(key) + format(" does not continue epoch %llu of board %u",
                                   static_cast<unsigned long long>(last->second), board));
  last_epochs_[board] = key.epoch;
  ++leases;
}

void Oracle::session_starts(Node board, const lease::LeaseKey& key, Node client) {
  if (const auto other = running_.find(board); other != running_.end())
    world_.fail(format("board %u serves clients %u and %u", board, other->second.client, client));
  if (last_epochs_[board] != key.epoch)
    world_.fail(format("board %u serves ", board) + text(key) + ", which is superseded");
  running_[board] = {key, client};
  ++sessions;
}

void Oracle::session_ends(Node board) {
  const Session session = running_.at(board);
  running_.erase(board);
  const auto end = ends_.find(key_of(session.key));
  if (end == ends_.end()) world_.fail(text(session.key) + " had a session and was never decided");
  if (world_.now > end->second + kMaxKillDelay)
    world_.fail(format("a session on board %u outlived ", board) + text(session.key) +
                format(" by %lld ms", static_cast<long long>((world_.now - end->second).count())));
}

void Oracle::answered(farm::LeaseId request) {
  if (waiting_.erase(request) != 0) ++answers;
}

void Oracle::granted(farm::LeaseId request) {
  if (const auto found = waiting_.find(request); found != waiting_.end()) found->second.is_granted = true;
}

void Oracle::expect_answers() const {
  for (const auto& [request, waiting] : waiting_)
    world_.fail(format("request %llu has had no answer for %.0f s", static_cast<unsigned long long>(request),
                       std::chrono::duration<double>(world_.now - waiting.since).count()));
}

void Oracle::expect_short_waits(TrueTime quiet_since) const {
  // Clients may have had to connect again, and their requests to begin anew.
  constexpr Delay kSlack = std::chrono::seconds(60);
  for (const auto& [request, waiting] : waiting_) {
    if (waiting.is_granted || world_.now <= std::max(waiting.since, quiet_since) + waiting.wait + kSlack) continue;
    world_.fail(format("request %llu waits for longer than it wanted to", static_cast<unsigned long long>(request)));
  }
}

}  // namespace ferry::test
