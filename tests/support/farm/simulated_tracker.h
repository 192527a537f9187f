// A tracker's process around the lease machine: standby or the one that schedules.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "farm/core/lease/lease_machine.h"
#include "tests/support/farm/network.h"
#include "tests/support/farm/oracle.h"
#include "tests/support/farm/simulated_store.h"

namespace ferry::test {

class SimulatedBoard;
class SimulatedClient;

class SimulatedTracker {
 public:
  SimulatedTracker(World& world, Network& network, Oracle& oracle, SimulatedStore& store, Node node,
                   std::vector<farm::BoardId> boards);

  void start();
  // kill -9. The store ends its session some time later.
  void stop();
  bool is_running() const { return is_running_; }
  bool is_active() const { return machine_ != nullptr; }
  Node node() const { return node_; }

  void attach_board(const LinkPointer& link, SimulatedBoard& board);
  void attach_client(const LinkPointer& link, SimulatedClient& client);
  // A message arrives.
  void receive(const LinkPointer& link, const farm::Event& event);
  // Something that does not come over a connection.
  void handle(const farm::Event& event);

  static farm::BoardDescription description_of(farm::BoardId board);

 private:
  struct Peer {
    LinkPointer link;
    SimulatedBoard* board = nullptr;
    SimulatedClient* client = nullptr;
  };

  void attach(const LinkPointer& link, const Peer& peer, const farm::Event& on_end);
  void poll_store();
  void become_active(farm::TrackerTerm term);
  void step_down();
  void close_links();
  void set_tick();
  void carry_out(const farm::Action& action);
  void persist(const farm::Persist& persist);
  // Passes the action on to the client or the board at the other end.
  template <class Action>
  void tell(farm::ClientConnection client, const Action& action);
  template <class Tell>
  void to_board(farm::BoardConnection connection, Tell tell);
  farm::Time now() const { return started_at_ + clock_.elapsed(world_.now); }
  void after(Delay delay, std::function<void()> what);

  World& world_;
  Network& network_;
  Oracle& oracle_;
  SimulatedStore& store_;
  Node node_;
  std::vector<farm::BoardId> boards_;
  DriftingClock clock_;
  bool is_running_ = false;
  // State of the process, or of its term:
  std::uint64_t incarnation_ = 0;
  std::unique_ptr<farm::LeaseMachine> machine_;  // null: standby
  farm::Time started_at_;                        // by the store's clock
  std::map<std::uint64_t, Peer> peers_;          // by the link's id
  std::optional<farm::Time> tick_at_;
  TrueTime reached_store_at_{};
};

}  // namespace ferry::test
