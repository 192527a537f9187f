// A client: asks for boards, uses them, and gives them back or not.
#pragma once

#include <optional>
#include <vector>

#include "farm/core/lease/actions.h"
#include "farm/core/lease/events.h"
#include "tests/support/farm/network.h"
#include "tests/support/farm/oracle.h"

namespace ferry::test {

class SimulatedBoard;
class SimulatedTracker;

class SimulatedClient {
 public:
  SimulatedClient(World& world, Network& network, Oracle& oracle, Node node, std::vector<SimulatedTracker*> trackers,
                  std::vector<SimulatedBoard*> boards);

  void start();
  // The process ends and forgets everything; another one starts after the delay.
  void crash(Delay downtime);
  // Whether it waits for this request or has its lease.
  bool asks_for(farm::LeaseId request) const { return asked_ && asked_->request.id == request; }
  bool has_lease() const { return asked_ && asked_->is_granted; }
  void set_submitting(bool is_submitting) { is_submitting_ = is_submitting; }

  void on_message(const LinkPointer& link, const farm::TellGranted& granted);
  void on_message(const LinkPointer& link, const farm::TellExtension& extension);
  void on_message(const LinkPointer& link, const farm::TellEnded& ended);

 private:
  struct Asked {
    farm::Request request;
    bool is_granted = false;
    bool is_released = false;
  };

  void connect();
  void send(const farm::Event& event);
  void keep_alive(const LinkPointer& link);
  void think();
  void submit();
  farm::Request draw_request();
  void release(farm::LeaseId lease);
  void use(SimulatedBoard& board, const lease::LeaseKey& key);
  void after(Delay delay, std::function<void()> what);

  World& world_;
  Network& network_;
  Oracle& oracle_;
  Node node_;
  std::vector<SimulatedTracker*> trackers_;
  std::vector<SimulatedBoard*> boards_;
  bool is_submitting_ = true;
  std::uint64_t incarnation_ = 0;
  LinkPointer link_;
  SimulatedTracker* tracker_ = nullptr;  // at its other end
  std::optional<Asked> asked_;
};

}  // namespace ferry::test
