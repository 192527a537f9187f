#include "tests/support/farm/simulated_client.h"

#include <string>

#include "tests/support/farm/simulated_board.h"
#include "tests/support/farm/simulated_tracker.h"

namespace ferry::test {

SimulatedClient::SimulatedClient(World& world, Network& network, Oracle& oracle, Node node,
                                 std::vector<SimulatedTracker*> trackers, std::vector<SimulatedBoard*> boards)
    : world_(world),
      network_(network),
      oracle_(oracle),
      node_(node),
      trackers_(std::move(trackers)),
      boards_(std::move(boards)) {}

void SimulatedClient::start() {
  ++incarnation_;
  connect();
  think();
}

void SimulatedClient::crash(Delay downtime) {
  world_.trace("client crashes: client", node_);
  ++incarnation_;
  if (asked_) oracle_.abandoned(asked_->request.id);
  asked_.reset();
  if (link_) network_.cut(link_);
  link_.reset();
  world_.after(downtime, [this, incarnation = incarnation_] {
    if (incarnation == incarnation_) start();
  });
}

void SimulatedClient::after(Delay delay, std::function<void()> what) {
  world_.after(delay, [this, incarnation = incarnation_, what = std::move(what)] {
    if (incarnation == incarnation_) what();
  });
}

void SimulatedClient::connect() {
  if (link_) return;
  SimulatedTracker& tracker = *trackers_[world_.random.below(trackers_.size())];
  if (!tracker.is_active() || network_.is_partitioned(node_, tracker.node())) {
    after(world_.random.between(Delay(200), Delay(2000)), [this] { connect(); });
    return;
  }
  tracker_ = &tracker;
  link_ = network_.connect(node_, tracker.node());
  link_->on_peer_notices = [this, link = link_.get(), incarnation = incarnation_] {
    if (incarnation != incarnation_ || link_.get() != link) return;
    link_.reset();
    after(world_.random.between(Delay(100), Delay(1000)), [this] { connect(); });
  };
  tracker.attach_client(link_, *this);
  if (asked_) {
    send(farm::RequestAttached{farm::ClientConnection{link_->id}, asked_->request, asked_->is_granted});
    if (asked_->is_released) send(farm::LeaseReleased{asked_->request.id});
  }
  keep_alive(link_);
}

void SimulatedClient::send(const farm::Event& event) {
  if (!link_) return;
  network_.send_up(link_, [tracker = tracker_, link = link_, event] { tracker->receive(link, event); });
}

void SimulatedClient::keep_alive(const LinkPointer& link) {
  if (link_ != link) return;
  send(farm::ClientHeard{farm::ClientConnection{link->id}});
  after(Delay(3000), [this, link] { keep_alive(link); });
}

void SimulatedClient::think() {
  after(world_.random.between(Delay(0), Delay(3000)), [this] {
    if (is_submitting_ && !asked_ && link_) return submit();
    think();
  });
}

farm::Request SimulatedClient::draw_request() {
  static constexpr const char* kSelectors[] = {"m0", "m1", "b0", "b1", "b3", "name!=b0", "model!=m1", "name!=none"};
  Random& random = world_.random;
  farm::Request request;
  request.id = farm::LeaseId{random.draw()};
  request.holder = "h" + std::to_string(node_ % 3);
  const std::uint64_t slots = random.once_in(4) ? 2 + random.below(2) : 1;
  for (std::uint64_t i = 0; i < slots; ++i) {
    const char* selector = random.once_in(100) ? "m7" : kSelectors[random.below(std::size(kSelectors))];
    request.slots.push_back(farm::parse_selector(selector).value());
  }
  request.priority = static_cast<std::uint32_t>(random.below(10));
  // Short ones often reach their ends.
  request.length =
      random.once_in(2) ? random.between(Delay(1000), Delay(30'000)) : random.between(Delay(30'000), Delay(240'000));
  request.wait = random.between(Delay(0), Delay(120'000));
  if (random.once_in(5)) request.kind = farm::LeaseKind::reserved;
  return request;
}

void SimulatedClient::submit() {
  asked_ = Asked{draw_request()};
  const farm::LeaseId id = asked_->request.id;
  world_.trace("client submits: client, request", node_, static_cast<std::uint64_t>(id));
  oracle_.submitted(id, asked_->request.wait);
  send(farm::RequestSubmitted{farm::ClientConnection{link_->id}, asked_->request});
  // Some lose patience.
  if (world_.random.once_in(10)) after(world_.random.between(Delay(0), Delay(60'000)), [this, id] { release(id); });
}

void SimulatedClient::release(farm::LeaseId lease) {
  if (!asked_ || asked_->request.id != lease) return;
  asked_->is_released = true;
  send(farm::LeaseReleased{lease});
}

void SimulatedClient::on_message(const LinkPointer& link, const farm::TellGranted& granted) {
  if (link_ != link || !asked_ || asked_->request.id != granted.lease) return;
  asked_->is_granted = true;
  oracle_.granted(granted.lease);
  for (const farm::LeasePart& part : granted.parts) {
    const lease::LeaseKey key{static_cast<std::uint64_t>(granted.lease), part.epoch};
    for (SimulatedBoard* board : boards_)
      if (board->id() == part.board) use(*board, key);
  }
  Random& random = world_.random;
  if (random.once_in(3))
    after(random.between(Delay(0), Delay(8000)), [this, lease = granted.lease] {
      send(farm::ExtensionRequested{lease, world_.random.between(Delay(1000), Delay(240'000))});
    });
  if (!random.once_in(4))
    after(random.between(Delay(0), Delay(30'000)), [this, lease = granted.lease] { release(lease); });
}

void SimulatedClient::use(SimulatedBoard& board, const lease::LeaseKey& key) {
  if (!asked_ || static_cast<std::uint64_t>(asked_->request.id) != key.lease) return;
  network_.send(node_, board.node(), [this, &board, key] { board.open_session(key, node_); });
  const Delay length = world_.random.between(Delay(100), Delay(8000));
  // Some keep their session for as long as they are allowed to.
  if (!world_.random.once_in(4))
    after(length,
          [this, &board, key] { network_.send(node_, board.node(), [&board, key] { board.close_session(key); }); });
  after(length + world_.random.between(Delay(50), Delay(3000)), [this, &board, key] { use(board, key); });
}

void SimulatedClient::on_message(const LinkPointer& link, const farm::TellExtension& extension) {
  if (link_ == link && extension.refusal.empty()) ++oracle_.extensions;
}

void SimulatedClient::on_message(const LinkPointer& link, const farm::TellEnded& ended) {
  if (link_ != link || !asked_ || asked_->request.id != ended.lease) return;
  world_.trace("client is answered: client, request, reason", node_, static_cast<std::uint64_t>(ended.lease),
               static_cast<std::uint64_t>(ended.reason));
  oracle_.answered(ended.lease);
  asked_.reset();
  think();
}

}  // namespace ferry::test
