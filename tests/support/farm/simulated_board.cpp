#include "tests/support/farm/simulated_board.h"

#include <algorithm>

#include "tests/support/farm/simulated_tracker.h"

namespace ferry::test {

SimulatedBoard::SimulatedBoard(World& world, Network& network, Oracle& oracle, Node node, farm::BoardId id)
    : world_(world), network_(network), oracle_(oracle), node_(node), id_(id), clock_(world.random) {}

void SimulatedBoard::start() {
  if (boot_id_ == 0) boot_id_ = world_.random.draw();
  ++incarnation_;
  guard_.emplace(disk_ceiling_);
  world_.trace("board starts: board, ceiling", node_, disk_ceiling_);
  after(world_.random.between(Delay(0), Delay(500)), [this] { connect(); });
}

void SimulatedBoard::stop() {
  if (!guard_) return;
  world_.trace("board stops: board", node_);
  ++incarnation_;
  guard_.reset();
  if (session_) oracle_.session_ends(node_);
  session_.reset();
  if (link_) network_.cut(link_);
  link_.reset();
}

void SimulatedBoard::restart(Delay downtime, std::uint64_t new_boot_id) {
  const bool is_running = guard_.has_value();
  stop();
  if (new_boot_id != 0) {
    boot_id_ = new_boot_id;
    clock_.restart(world_.now);
  }
  // Otherwise it starts at a time that was decided before.
  if (is_running) world_.after(downtime, [this] { start(); });
}

void SimulatedBoard::clone_disk(const SimulatedBoard& other) {
  disk_ceiling_ = other.disk_ceiling_;
  oracle_.replaces_disk(node_);
}

void SimulatedBoard::after(Delay delay, std::function<void()> what) {
  world_.after(delay, [this, incarnation = incarnation_, what = std::move(what)] {
    if (incarnation == incarnation_) what();
  });
}

void SimulatedBoard::connect() {
  if (link_) return;
  SimulatedTracker& tracker = *trackers_[world_.random.below(trackers_.size())];
  if (!tracker.is_active() || network_.is_partitioned(node_, tracker.node())) {
    after(world_.random.between(Delay(200), Delay(2000)), [this] { connect(); });
    return;
  }
  link_ = network_.connect(node_, tracker.node());
  tracker_ = &tracker;
  link_->on_peer_notices = [this, link = link_.get(), incarnation = incarnation_] {
    if (incarnation == incarnation_ && link_.get() == link) lose_link(link_);
  };
  farm::BoardJoined joined;
  joined.connection = farm::BoardConnection{link_->id};
  joined.board = id_;
  joined.boot_id = boot_id_;
  joined.boot_time = boot_time();
  joined.ceiling = guard_->ceiling();
  joined.serving = guard_->serving();
  joined.description = SimulatedTracker::description_of(id_);
  tracker.attach_board(link_, *this);
  send(joined);
  beat(link_);
}

void SimulatedBoard::lose_link(const LinkPointer& link) {
  if (link_ != link) return;
  link_.reset();
  after(world_.random.between(Delay(100), Delay(1500)), [this] { connect(); });
}

void SimulatedBoard::send(const farm::Event& event) {
  if (!link_) return;
  network_.send_up(link_, [tracker = tracker_, link = link_, event] { tracker->receive(link, event); });
}

void SimulatedBoard::send_heartbeat() {
  send(farm::BoardHeartbeat{farm::BoardConnection{link_->id}, boot_time(), std::nullopt, is_hot_, probe_});
}

void SimulatedBoard::beat(const LinkPointer& link) {
  if (link_ != link) return;
  send_heartbeat();
  after(world_.random.between(Delay(1500), Delay(2500)), [this, link] { beat(link); });
}

void SimulatedBoard::on_announcement(const LinkPointer& link, const lease::Announcement& announcement) {
  if (link_ != link) return;
  world_.trace("board hears of lease: board, lease, epoch", node_, announcement.key.lease, announcement.key.epoch);
  apply(guard_->announce(announcement, boot_time()));
  watch_end();
}

void SimulatedBoard::on_withdrawal(const LinkPointer& link, const lease::LeaseKey& key) {
  if (link_ == link) apply(guard_->withdraw(key));
}

void SimulatedBoard::on_probe(const LinkPointer& link, std::uint64_t probe) {
  if (link_ != link) return;
  probe_ = probe;
  send_heartbeat();
}

void SimulatedBoard::watch_end() {
  const auto end = guard_->end();
  if (!end) return;
  after(std::max(Delay(0), clock_.true_delay(*end - boot_time())), [this, end] {
    // An extension has begun a watch of its own.
    if (guard_->end() == end) apply(guard_->check_end(boot_time()));
    if (guard_->end() == end) watch_end();
  });
}

void SimulatedBoard::apply(const lease::LeaseGuard::Effects& effects) {
  if (effects.end_session)
    after(world_.random.between(Delay(0), Delay(20)), [this, key = *session_] { kill_session(key); });
  // Some writes never end.
  if (effects.write_ceiling != 0 && !world_.random.once_in(50)) {
    const Delay delay = world_.random.once_in(20) ? Delay(3000) : world_.random.between(Delay(1), Delay(50));
    after(delay, [this, ceiling = effects.write_ceiling] {
      disk_ceiling_ = std::max(disk_ceiling_, ceiling);
      apply(guard_->ceiling_written(ceiling));
    });
  }
  if (effects.acknowledged && effects.acknowledged->extension == 0)
    oracle_.acknowledges(node_, id_, effects.acknowledged->key);
  if (effects.acknowledged) {
    const Delay left = clock_.true_delay(effects.acknowledged->end - boot_time());
    oracle_.ends(effects.acknowledged->key, world_.now + left);
  }
  if (!link_) return;
  const farm::BoardConnection connection{link_->id};
  if (effects.over) send(farm::BoardLeaseOver{connection, *effects.over});
  if (effects.refused) send(farm::BoardLeaseOver{connection, *effects.refused});
  if (!effects.acknowledged) return;
  send(farm::BoardAcknowledged{connection, effects.acknowledged->key, effects.acknowledged->extension});
}

bool SimulatedBoard::open_session(const lease::LeaseKey& key, Node client) {
  if (!guard_ || guard_->admit(key, boot_time()) != lease::AdmitResult::admitted) return false;
  session_ = key;
  oracle_.session_starts(node_, key, client);
  world_.trace("session starts: board, lease, epoch", node_, key.lease, key.epoch);
  return true;
}

void SimulatedBoard::kill_session(const lease::LeaseKey& key) {
  if (session_ != key) return;
  world_.trace("session ends: board, lease, epoch", node_, key.lease, key.epoch);
  session_.reset();
  oracle_.session_ends(node_);
  apply(guard_->session_ended());
}

}  // namespace ferry::test
