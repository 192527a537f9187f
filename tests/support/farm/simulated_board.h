// A board: its guard, its disk, its clock, its sessions and its connection to a tracker.
#pragma once

#include <optional>
#include <vector>

#include "farm/core/lease/events.h"
#include "farm/protocol/lease/lease_guard.h"
#include "tests/support/farm/network.h"
#include "tests/support/farm/oracle.h"

namespace ferry::test {

class SimulatedTracker;

class SimulatedBoard {
 public:
  SimulatedBoard(World& world, Network& network, Oracle& oracle, Node node, farm::BoardId id);

  void set_trackers(std::vector<SimulatedTracker*> trackers) { trackers_ = std::move(trackers); }
  void start();
  // Its server stops.
  void stop();
  // It starts again after the delay; with a boot id the board itself does.
  void restart(Delay downtime, std::uint64_t new_boot_id = 0);
  void set_boot_id(std::uint64_t boot_id) { boot_id_ = boot_id; }
  std::uint64_t boot_id() const { return boot_id_; }
  bool is_running() const { return guard_.has_value(); }
  // The disk is a copy of the other's.
  void clone_disk(const SimulatedBoard& other);
  void set_hot(bool is_hot) { is_hot_ = is_hot; }

  // From its tracker. `link` tells whether it is the current one.
  void on_announcement(const LinkPointer& link, const lease::Announcement& announcement);
  void on_withdrawal(const LinkPointer& link, const lease::LeaseKey& key);
  void on_probe(const LinkPointer& link, std::uint64_t probe);

  // From a client. Returns whether its session was admitted.
  bool open_session(const lease::LeaseKey& key, Node client);
  void close_session(const lease::LeaseKey& key) { kill_session(key); }

  Node node() const { return node_; }
  farm::BoardId id() const { return id_; }

 private:
  void connect();
  void lose_link(const LinkPointer& link);
  void beat(const LinkPointer& link);
  void send_heartbeat();
  void send(const farm::Event& event);
  void apply(const lease::LeaseGuard::Effects& effects);
  void watch_end();
  void kill_session(const lease::LeaseKey& key);
  lease::BootTime boot_time() const { return lease::BootTime(clock_.elapsed(world_.now)); }
  // Runs `what` after the delay, unless the server has stopped meanwhile.
  void after(Delay delay, std::function<void()> what);

  World& world_;
  Network& network_;
  Oracle& oracle_;
  Node node_;
  farm::BoardId id_;
  std::vector<SimulatedTracker*> trackers_;
  DriftingClock clock_;
  std::uint64_t boot_id_ = 0;
  lease::Epoch disk_ceiling_ = 0;
  bool is_hot_ = false;
  // State of the running server:
  std::uint64_t incarnation_ = 0;
  std::optional<lease::LeaseGuard> guard_;  // nothing: it does not run
  LinkPointer link_;
  SimulatedTracker* tracker_ = nullptr;  // at its other end
  std::uint64_t probe_ = 0;
  std::optional<lease::LeaseKey> session_;
};

}  // namespace ferry::test
