#include "tests/unit/farm/core/lease/machine_driver.h"

namespace ferry::test {

void MachineDriver::start(const farm::Options& options) {
  options_ = options;
  machine = std::make_unique<farm::LeaseMachine>(store.snapshot(), farm::TrackerTerm{++term_}, options, now);
  commits = persisted = 0;
  board_links_.clear();
  client_links_.clear();
}

void MachineDriver::run_until(farm::Time time) {
  constexpr farm::Duration kKeepalive = seconds(3);
  while (now < time) {
    farm::Time next = std::min(time, now + kKeepalive);
    if (const auto deadline = machine->next_deadline()) next = std::max(now, std::min(next, *deadline));
    now = next;
    if (keeps_alive) {
      for (const farm::BoardConnection link : board_links_)
        handle(farm::BoardHeartbeat{link, boot_time(), std::nullopt, false, 0});
      for (const farm::ClientConnection link : client_links_) handle(farm::ClientHeard{link});
    }
    handle(farm::Tick{});
  }
}

void MachineDriver::handle(const farm::Event& event) {
  if (const auto* joined = std::get_if<farm::BoardJoined>(&event)) board_links_.push_back(joined->connection);
  if (const auto* submitted = std::get_if<farm::RequestSubmitted>(&event)) client_links_.push_back(submitted->client);
  if (const auto* attached = std::get_if<farm::RequestAttached>(&event)) client_links_.push_back(attached->client);
  if (const auto* left = std::get_if<farm::BoardLeft>(&event)) std::erase(board_links_, left->connection);
  if (const auto* left = std::get_if<farm::ClientLeft>(&event)) std::erase(client_links_, left->client);
  for (const farm::Action& action : machine->handle(event, now)) {
    actions.push_back(action);
    carry_out(action);
  }
}

void MachineDriver::carry_out(const farm::Action& action) {
  if (const auto* persist_action = std::get_if<farm::Persist>(&action)) {
    CHECK(persist_action->commit == commits + 1);
    commits = persist_action->commit;
    store.apply(persist_action->records);
    if (persists) persist();
  } else if (const auto* announce = std::get_if<farm::AnnounceLease>(&action)) {
    if (!acknowledges) return;
    serving[announce->connection] = announce->announcement.key;
    handle(farm::BoardAcknowledged{announce->connection, announce->announcement.key, announce->announcement.extension});
  } else if (const auto* withdraw = std::get_if<farm::WithdrawLease>(&action)) {
    serving.erase(withdraw->connection);
  } else if (const auto* close = std::get_if<farm::CloseBoard>(&action)) {
    std::erase(board_links_, close->connection);
  } else if (const auto* told = std::get_if<farm::TellGranted>(&action)) {
    granted[told->lease] = *told;
  } else if (const auto* told_end = std::get_if<farm::TellEnded>(&action)) {
    ended[told_end->lease] = *told_end;
  } else if (const auto* told_place = std::get_if<farm::TellWaiting>(&action)) {
    waiting[told_place->lease] = *told_place;
  }
}

void MachineDriver::enrol(std::uint64_t number, const std::string& machine_name, bool shares_machine) {
  handle(farm::BoardEnrolled{board_id(number), joining(number, 0).description.name, {}, machine_name, shares_machine});
}

farm::BoardJoined MachineDriver::joining(std::uint64_t number, std::uint64_t connection, std::uint64_t boot_id) const {
  farm::BoardJoined joined;
  joined.connection = board_link(connection);
  joined.board = board_id(number);
  joined.boot_id = number * 1000 + boot_id;
  joined.boot_time = boot_time();
  joined.description.name = "b" + std::to_string(number);
  joined.description.model = "rpi4";
  return joined;
}

farm::Request MachineDriver::request(std::uint64_t id, const std::string& holder,
                                     const std::vector<std::string>& selectors) {
  farm::Request request;
  request.id = lease_id(id);
  request.holder = holder;
  for (const std::string& selector : selectors) request.slots.push_back(farm::parse_selector(selector).value());
  request.length = minutes(10);
  request.wait = hours(1);
  return request;
}

}  // namespace ferry::test
