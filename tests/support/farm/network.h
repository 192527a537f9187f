// Connections between machines, as TCP gives them: messages arrive in order or not at all, after any delay; those of
// different connections overtake each other. A connection may break without either end, or only one of them, noticing.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "tests/support/farm/world.h"

namespace ferry::test {

using Node = std::uint32_t;

// Between a board or a client and a tracker's process.
struct Link {
  std::uint64_t id = 0;
  Node peer = 0;
  Node tracker = 0;
  bool is_cut = false;
  TrueTime up_until{}, down_until{};  // once it is cut: what was to arrive before still does
  TrueTime last_up{}, last_down{};    // arrival of the last message
  std::function<void()> on_peer_notices;
  std::function<void()> on_tracker_notices;
};
using LinkPointer = std::shared_ptr<Link>;

class Network {
 public:
  explicit Network(World& world) : world_(world) {}

  // Nothing gets from one to the other until heal().
  void partition(Node a, Node b) { partitioned_.insert(std::minmax(a, b)); }
  void heal(Node a, Node b) { partitioned_.erase(std::minmax(a, b)); }
  void heal_all() { partitioned_.clear(); }
  bool is_partitioned(Node a, Node b) const { return partitioned_.contains(std::minmax(a, b)); }
  // One message in this number is lost, and its connection with it; 0: none.
  void set_loss(std::uint64_t loss) { loss_ = loss; }

  LinkPointer connect(Node peer, Node tracker);
  void send_up(const LinkPointer& link, std::function<void()> arrive);
  void send_down(const LinkPointer& link, std::function<void()> arrive);
  // Ends the connection. Each end notices soon, or only when it misses keepalives.
  void cut(const LinkPointer& link);
  // A message outside of these connections; lost if the machines are partitioned when it arrives.
  void send(Node from, Node to, std::function<void()> arrive);

 private:
  Delay draw_delay();
  void send_on(const LinkPointer& link, TrueTime Link::* last, TrueTime Link::* until, std::function<void()> arrive);

  World& world_;
  std::set<std::pair<Node, Node>> partitioned_;
  std::uint64_t loss_ = 0;
  std::uint64_t last_link_ = 0;
};

}  // namespace ferry::test
