#include "tests/support/farm/simulation.h"

#include <algorithm>

#include "base/format.h"

namespace ferry::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Node kStore = 0;
constexpr Node kFirstTracker = 1, kFirstBoard = 10, kFirstClient = 100;
constexpr Node kTrackers = 2, kBoards = 5, kClients = 8;
// Two boards run on one machine and say so by their boot id. The last one may claim to be there as well.
constexpr Node kFirstOfHost = 2, kLastOfHost = 3;

}  // namespace

Simulation::Simulation(std::uint64_t seed)
    : world_(seed), network_(world_), oracle_(world_), store_(world_, network_, oracle_, kStore) {
  std::vector<farm::BoardId> ids;
  for (Node i = 0; i < kBoards; ++i) ids.push_back(farm::BoardId{i});
  std::vector<SimulatedTracker*> trackers;
  for (Node i = 0; i < kTrackers; ++i) {
    auto tracker = std::make_unique<SimulatedTracker>(world_, network_, oracle_, store_, kFirstTracker + i, ids);
    trackers.push_back(trackers_.emplace_back(std::move(tracker)).get());
  }
  std::vector<SimulatedBoard*> boards;
  for (Node i = 0; i <= kBoards; ++i) {
    const farm::BoardId id = ids[std::min(i, kBoards - 1)];
    auto board = std::make_unique<SimulatedBoard>(world_, network_, oracle_, kFirstBoard + i, id);
    board->set_trackers(trackers);
    boards.push_back(board.get());
    (i < kBoards ? boards_.emplace_back() : copy_) = std::move(board);
  }
  for (Node i = 0; i < kClients; ++i)
    clients_.push_back(
        std::make_unique<SimulatedClient>(world_, network_, oracle_, kFirstClient + i, trackers, boards));
  for (const auto& tracker : trackers_) nodes_.push_back(tracker->node());
  for (const auto& board : boards_) nodes_.push_back(board->node());
  for (Node i = 0; i < kClients; ++i) nodes_.push_back(kFirstClient + i);

  trackers_[0]->start();
  trackers_[1]->start();
  world_.run_until(world_.now + seconds(5));
  store_.back_up();
  const std::uint64_t host = world_.random.draw();
  for (Node i = kFirstOfHost; i <= kLastOfHost; ++i) boards_[i]->set_boot_id(host);
  for (const auto& board : boards_) board->start();
  for (const auto& client : clients_) client->start();
  check_health();
}

void Simulation::run(std::uint64_t events) {
  while (world_.events < events) {
    run_with_faults(world_.now + world_.random.between(minutes(1), minutes(15)));
    run_quietly();
  }
}

SimulationCounts Simulation::counts() const {
  return {world_.events, oracle_.sessions, oracle_.leases, oracle_.answers, oracle_.extensions};
}

void Simulation::run_with_faults(TrueTime until) {
  has_faults_ = true;
  // With few clients boards are free and leases are extended; with all of them requests wait.
  const std::uint64_t busy = 1 + world_.random.below(kClients);
  for (std::uint64_t i = 0; i < kClients; ++i) clients_[i]->set_submitting(i < busy);
  network_.set_loss(world_.random.once_in(2) ? 2000 : 300);
  while (world_.now < until) {
    world_.run_until(world_.now + world_.random.between(Delay(200), Delay(8000)));
    inject_fault();
  }
}

void Simulation::run_quietly() {
  world_.trace("faults end");
  has_faults_ = false;
  network_.set_loss(0);
  network_.heal_all();
  copy_->stop();
  for (const auto& board : boards_) board->set_hot(false);
  for (const auto& client : clients_) client->set_submitting(false);
  // Longer than any wait, lease and extension together.
  const TrueTime since = world_.now, until = since + minutes(15);
  while (world_.now < until) {
    world_.run_until(world_.now + seconds(10));
    oracle_.expect_short_waits(since);
    if (world_.now >= since + minutes(1)) expect_nothing_locked();
    if (oracle_.is_everything_answered() && store_.tables().requests().empty()) break;
  }
  unheard_.clear();
  oracle_.expect_answers();
  if (!store_.tables().requests().empty()) world_.fail("a request was forgotten in the store");
  if (!store_.tables().leases().empty()) world_.fail("a lease was forgotten in the store");
}

// What is attached to clients that have gone must have ended by now, and the others must soon hear of their leases.
void Simulation::expect_nothing_locked() {
  constexpr Delay kMostUntilHeard = seconds(20);
  for (const auto& [id, lease] : store_.tables().leases()) {
    const farm::Request& request = store_.tables().requests().at(id).request;
    const auto client =
        std::find_if(clients_.begin(), clients_.end(), [&](const auto& one) { return one->asks_for(id); });
    if (client == clients_.end() && request.kind == farm::LeaseKind::attached)
      world_.fail(format("lease %llu has outlasted its client", static_cast<unsigned long long>(id)));
    const auto seen = unheard_.try_emplace({id, lease.parts[0].epoch}, world_.now).first;
    if (client != clients_.end() && !(*client)->has_lease() && world_.now - seen->second > kMostUntilHeard)
      world_.fail(format("nobody has heard of lease %llu", static_cast<unsigned long long>(id)));
  }
}

void Simulation::handle(const farm::Event& event) {
  for (const auto& tracker : trackers_) tracker->handle(event);
}

// What health checks and admins do.
void Simulation::check_health() {
  for (Node i = 0; i < kBoards; ++i) {
    const farm::BoardId board{i};
    handle(farm::HealthChecked{board, true});
    const farm::BoardState state = store_.tables().board(board).state;
    if ((state == farm::BoardState::bad || state == farm::BoardState::maintenance) &&
        (!has_faults_ || world_.random.once_in(3)))
      handle(farm::BoardOrdered{board, farm::BoardOrder::return_to_service});
  }
  world_.after(seconds(5), [this] { check_health(); });
}

void Simulation::inject_fault() {
  switch (world_.random.below(10)) {
    case 0: return break_tracker();
    case 1:
    case 2: return break_board();
    case 3:
    case 4:
    case 5: return break_network();
    case 6: return break_store();
    case 7: return clients_[world_.random.below(kClients)]->crash(world_.random.between(Delay(0), Delay(20'000)));
    case 8: return disturb_pool();
    case 9: return copy_key();
  }
}

void Simulation::break_tracker() {
  SimulatedTracker* tracker = trackers_[world_.random.below(kTrackers)].get();
  tracker->stop();
  world_.after(world_.random.between(Delay(0), Delay(20'000)), [tracker] { tracker->start(); });
}

void Simulation::break_board() {
  Random& random = world_.random;
  const auto broken = static_cast<Node>(random.below(kBoards));
  const auto restart = [&](Node board, std::uint64_t boot_id) {
    boards_[board]->restart(random.between(Delay(0), Delay(20'000)), boot_id);
  };
  if (random.once_in(2)) return restart(broken, 0);
  const bool is_on_host = broken >= kFirstOfHost && broken <= kLastOfHost;
  const bool is_lying = broken == kBoards - 1 && random.once_in(2);
  const std::uint64_t boot_id = is_lying ? boards_[random.below(kBoards - 1)]->boot_id() : random.draw();
  if (!is_on_host) return restart(broken, boot_id);
  for (Node i = kFirstOfHost; i <= kLastOfHost; ++i) restart(i, boot_id);
}

void Simulation::break_network() {
  const Node a = nodes_[world_.random.below(nodes_.size())], b = nodes_[world_.random.below(nodes_.size())];
  if (a == b) return;
  world_.trace("partition: nodes", a, b);
  network_.partition(a, b);
  world_.after(world_.random.between(Delay(500), Delay(40'000)), [this, a, b] { network_.heal(a, b); });
}

void Simulation::break_store() {
  Random& random = world_.random;
  switch (random.below(4)) {
    case 0: {
      const Delay jump = random.between(-minutes(60), minutes(60));
      world_.trace("the store's clock jumps: milliseconds", static_cast<std::uint64_t>(jump.count()));
      return store_.set_clock(jump);
    }
    case 1: world_.trace("backup"); return store_.back_up();
    case 2:
      world_.trace("the backup is restored");
      for (const auto& tracker : trackers_) {
        tracker->stop();
        store_.release(tracker->node());
        world_.after(random.between(Delay(0), Delay(5000)), [one = tracker.get()] { one->start(); });
      }
      return store_.restore_backup();
    case 3: {
      // Affects one tracker, or both.
      const std::uint64_t first = random.below(kTrackers), last = random.once_in(2) ? first : kTrackers - 1;
      const Delay outage = random.between(Delay(1000), Delay(60'000));
      for (std::uint64_t i = first; i <= last; ++i) {
        const Node node = trackers_[i]->node();
        world_.trace("the store is out of reach: tracker", node);
        network_.partition(node, kStore);
        world_.after(random.between(Delay(2000), Delay(10'000)), [this, node] {
          if (network_.is_partitioned(node, kStore)) store_.release(node);
        });
        world_.after(outage, [this, node] { network_.heal(node, kStore); });
      }
      return;
    }
  }
}

void Simulation::disturb_pool() {
  Random& random = world_.random;
  const std::uint64_t index = random.below(kBoards);
  const farm::BoardId board{index};
  switch (random.below(3)) {
    case 0: return handle(farm::HealthChecked{board, false});
    case 1: return handle(farm::BoardOrdered{board, farm::BoardOrder::maintain});
    case 2:
      boards_[index]->set_hot(true);
      world_.after(random.between(Delay(1000), Delay(60'000)), [this, index] { boards_[index]->set_hot(false); });
      return;
  }
}

// Another board starts with a copy of the last board's disk, or stops.
void Simulation::copy_key() {
  if (copy_->is_running()) return copy_->stop();
  copy_->clone_disk(*boards_.back());
  copy_->start();
}

}  // namespace ferry::test
