#include "tests/support/farm/network.h"

#include <algorithm>

#include "farm/core/lease/limits.h"

namespace ferry::test {

Delay Network::draw_delay() {
  if (world_.random.once_in(50)) return world_.random.between(Delay(100), Delay(4000));
  return world_.random.between(Delay(0), Delay(30));
}

LinkPointer Network::connect(Node peer, Node tracker) {
  auto link = std::make_shared<Link>();
  link->id = ++last_link_;
  link->peer = peer;
  link->tracker = tracker;
  return link;
}

void Network::send_up(const LinkPointer& link, std::function<void()> arrive) {
  send_on(link, &Link::last_up, &Link::up_until, std::move(arrive));
}

void Network::send_down(const LinkPointer& link, std::function<void()> arrive) {
  send_on(link, &Link::last_down, &Link::down_until, std::move(arrive));
}

void Network::send_on(const LinkPointer& link, TrueTime Link::* last, TrueTime Link::* until,
                      std::function<void()> arrive) {
  if (link->is_cut) return;
  if (is_partitioned(link->peer, link->tracker) || (loss_ != 0 && world_.random.once_in(loss_))) return cut(link);
  Link& state = *link;
  state.*last = std::max(state.*last, world_.now + draw_delay());
  world_.after(state.*last - world_.now, [this, link, until, arrive = std::move(arrive)] {
    if (!link->is_cut || world_.now < (*link).*until) arrive();
  });
}

void Network::cut(const LinkPointer& link) {
  if (link->is_cut) return;
  link->is_cut = true;
  world_.trace("connection cut: link, peer, tracker", link->id, link->peer, link->tracker);
  link->up_until = world_.now + world_.random.between(Delay(0), Delay(500));
  link->down_until = world_.now + world_.random.between(Delay(0), Delay(500));
  const auto draw_notice = [&] {
    return world_.random.once_in(2) ? world_.random.between(Delay(500), Delay(700)) : Delay(farm::kSilence);
  };
  world_.after(draw_notice(), [link] { link->on_peer_notices(); });
  // The tracker has timers of its own for silence.
  if (world_.random.once_in(2)) world_.after(draw_notice(), [link] { link->on_tracker_notices(); });
}

void Network::send(Node from, Node to, std::function<void()> arrive) {
  world_.after(draw_delay(), [this, from, to, arrive = std::move(arrive)] {
    if (!is_partitioned(from, to)) arrive();
  });
}

}  // namespace ferry::test
