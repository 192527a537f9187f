#include "tests/support/farm/simulated_tracker.h"

#include <string>
#include <utility>

#include "farm/core/lease/check_snapshot.h"
#include "tests/support/farm/simulated_board.h"
#include "tests/support/farm/simulated_client.h"

namespace ferry::test {
namespace {

// A tracker that cannot reach the store for so long knows that its session there may have ended.
constexpr Delay kStoreTimeout = std::chrono::seconds(6);
constexpr Delay kPollPeriod = std::chrono::seconds(1);

}  // namespace

SimulatedTracker::SimulatedTracker(World& world, Network& network, Oracle& oracle, SimulatedStore& store, Node node,
                                   std::vector<farm::BoardId> boards)
    : world_(world),
      network_(network),
      oracle_(oracle),
      store_(store),
      node_(node),
      boards_(std::move(boards)),
      clock_(world.random) {}

farm::BoardDescription SimulatedTracker::description_of(farm::BoardId board) {
  farm::BoardDescription description;
  const auto number = static_cast<std::uint64_t>(board);
  description.name = "b" + std::to_string(number);
  description.model = "m" + std::to_string(number % 2);
  return description;
}

void SimulatedTracker::start() {
  if (is_running_) return;
  world_.trace("tracker starts: tracker", node_);
  is_running_ = true;
  ++incarnation_;
  poll_store();
}

void SimulatedTracker::stop() {
  if (!is_running_) return;
  world_.trace("tracker stops: tracker", node_);
  is_running_ = false;
  ++incarnation_;
  machine_.reset();
  close_links();
  world_.after(world_.random.between(Delay(0), Delay(5000)), [this, incarnation = incarnation_] {
    if (incarnation == incarnation_) store_.release(node_);
  });
}

void SimulatedTracker::after(Delay delay, std::function<void()> what) {
  world_.after(delay, [this, incarnation = incarnation_, what = std::move(what)] {
    if (incarnation == incarnation_) what();
  });
}

void SimulatedTracker::poll_store() {
  if (!network_.is_partitioned(node_, store_.node())) reached_store_at_ = world_.now;
  if (machine_ != nullptr) {
    if (!store_.is_held_by(node_) || world_.now - reached_store_at_ > kStoreTimeout) return step_down();
  } else {
    // A process that has just started finds the lock of the one before it.
    if (store_.is_held_by(node_)) store_.release(node_);
    if (const auto term = store_.elect(node_)) become_active(*term);
  }
  after(kPollPeriod, [this] { poll_store(); });
}

void SimulatedTracker::become_active(farm::TrackerTerm term) {
  world_.trace("tracker schedules: tracker, term", node_, static_cast<std::uint64_t>(term));
  clock_.restart(world_.now);
  started_at_ = store_.clock();
  tick_at_.reset();
  const farm::Snapshot snapshot = store_.tables().snapshot();
  if (const Status checked = farm::check_snapshot(snapshot); !checked.is_ok())
    throw SimulationFailure(checked.message());
  machine_ = std::make_unique<farm::LeaseMachine>(snapshot, term, farm::Options{true}, started_at_);
  // Boards 0 and 1 are on one machine.
  for (const farm::BoardId board : boards_)
    handle(farm::BoardEnrolled{
        board, description_of(board).name, {}, static_cast<std::uint64_t>(board) < 2 ? "box" : "", false});
}

void SimulatedTracker::step_down() {
  world_.trace("tracker steps down: tracker", node_);
  bool has_acted = !machine_->handle(farm::TermLost{}, now()).empty();
  for (const auto& [id, peer] : peers_) {
    has_acted = has_acted || !machine_->handle(farm::BoardLeft{farm::BoardConnection{id}}, now()).empty() ||
                !machine_->handle(farm::ClientLeft{farm::ClientConnection{id}}, now()).empty();
  }
  if (has_acted) world_.fail("a machine that has lost its term acted");
  machine_.reset();
  ++incarnation_;
  close_links();
  poll_store();
}

void SimulatedTracker::close_links() {
  const auto peers = std::exchange(peers_, {});
  for (const auto& [id, peer] : peers) network_.cut(peer.link);
}

void SimulatedTracker::attach_board(const LinkPointer& link, SimulatedBoard& board) {
  attach(link, {link, &board, nullptr}, farm::BoardLeft{farm::BoardConnection{link->id}});
}

void SimulatedTracker::attach_client(const LinkPointer& link, SimulatedClient& client) {
  attach(link, {link, nullptr, &client}, farm::ClientLeft{farm::ClientConnection{link->id}});
}

void SimulatedTracker::attach(const LinkPointer& link, const Peer& peer, const farm::Event& on_end) {
  peers_[link->id] = peer;
  link->on_tracker_notices = [this, id = link->id, on_end, incarnation = incarnation_] {
    if (incarnation != incarnation_ || peers_.erase(id) == 0) return;
    handle(on_end);
  };
}

void SimulatedTracker::receive(const LinkPointer& link, const farm::Event& event) {
  if (peers_.contains(link->id)) handle(event);
}

void SimulatedTracker::handle(const farm::Event& event) {
  if (machine_ == nullptr) return;
  const std::uint64_t incarnation = incarnation_;
  for (const farm::Action& action : machine_->handle(event, now())) {
    if (incarnation != incarnation_) return;
    carry_out(action);
  }
  set_tick();
}

void SimulatedTracker::set_tick() {
  const auto deadline = machine_->next_deadline();
  if (!deadline || (tick_at_ && *tick_at_ <= *deadline)) return;
  tick_at_ = deadline;
  after(clock_.true_delay(*deadline - now()), [this, deadline] {
    if (tick_at_ != deadline) return;
    tick_at_.reset();
    handle(farm::Tick{});
  });
}

void SimulatedTracker::persist(const farm::Persist& persist) {
  for (const farm::Record& record : persist.records)
    if (const auto* lease = std::get_if<farm::LeaseRecord>(&record))
      oracle_.decided(*lease, clock_.true_delay(lease->end - now()));
  store_.commit(node_, persist.term, persist.records,
                [this, commit = persist.commit, incarnation = incarnation_](SimulatedStore::Outcome outcome) {
                  if (incarnation != incarnation_) return;
                  if (outcome == SimulatedStore::Outcome::term_lost) return step_down();
                  handle(farm::Persisted{commit});
                });
}

template <class Action>
void SimulatedTracker::tell(farm::ClientConnection connection, const Action& action) {
  const auto found = peers_.find(static_cast<std::uint64_t>(connection));
  if (found == peers_.end()) return;
  network_.send_down(found->second.link, [link = found->second.link, client = found->second.client, action] {
    client->on_message(link, action);
  });
}

template <class Tell>
void SimulatedTracker::to_board(farm::BoardConnection connection, Tell tell_board) {
  const auto found = peers_.find(static_cast<std::uint64_t>(connection));
  if (found == peers_.end()) return;
  network_.send_down(found->second.link, [link = found->second.link, board = found->second.board, tell_board] {
    tell_board(*board, link);
  });
}

void SimulatedTracker::carry_out(const farm::Action& action) {
  if (const auto* one = std::get_if<farm::Persist>(&action)) {
    persist(*one);
  } else if (const auto* announce = std::get_if<farm::AnnounceLease>(&action)) {
    oracle_.announces(announce->announcement.key, announce->announcement.extension);
    to_board(announce->connection,
             [announcement = announce->announcement](SimulatedBoard& board, const LinkPointer& link) {
               board.on_announcement(link, announcement);
             });
  } else if (const auto* withdraw = std::get_if<farm::WithdrawLease>(&action)) {
    to_board(withdraw->connection,
             [key = withdraw->key](SimulatedBoard& board, const LinkPointer& link) { board.on_withdrawal(link, key); });
  } else if (const auto* probe = std::get_if<farm::ProbeBoard>(&action)) {
    to_board(probe->connection,
             [number = probe->probe](SimulatedBoard& board, const LinkPointer& link) { board.on_probe(link, number); });
  } else if (const auto* close = std::get_if<farm::CloseBoard>(&action)) {
    const auto found = peers_.find(static_cast<std::uint64_t>(close->connection));
    if (found == peers_.end()) return;
    network_.cut(found->second.link);
    peers_.erase(found);
  } else if (const auto* granted = std::get_if<farm::TellGranted>(&action)) {
    oracle_.grants(granted->lease, granted->parts);
    tell(granted->client, *granted);
  } else if (const auto* extension = std::get_if<farm::TellExtension>(&action)) {
    if (extension->refusal.empty())
      oracle_.promises(store_.tables().leases().at(extension->lease), extension->remaining);
    tell(extension->client, *extension);
  } else if (const auto* ended = std::get_if<farm::TellEnded>(&action)) {
    tell(ended->client, *ended);
  }
}

}  // namespace ferry::test
