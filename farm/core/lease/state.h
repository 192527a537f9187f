// The state of the lease machine. Its parts change it through the functions of lease_life.h and handlers.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "farm/core/lease/boards.h"
#include "farm/core/lease/ended_ids.h"
#include "farm/core/lease/lease_machine.h"
#include "farm/core/lease/outbox.h"
#include "farm/core/lease/pools.h"
#include "farm/core/lease/timers.h"
#include "farm/core/schedule/fair_share.h"
#include "farm/core/schedule/schedule_round.h"

namespace ferry::farm {

struct HeldBoard {
  std::uint32_t board = 0;  // its index
  lease::Epoch epoch = 0;
  bool is_acknowledged = false;
  std::uint32_t acknowledged_extension = 0;
};

struct Lease {
  std::vector<HeldBoard> parts;  // one for each slot
  Time start;
  Time end;
  Time set_at;  // when `end` was decided on
  std::uint32_t extension = 0;
  std::uint64_t attempt = 0;
  bool is_granted = false;  // the client was told
  Time acknowledge_by;      // unless it is granted
  Time confirmed_end;       // the end that all boards have acknowledged
  bool is_extending = false;
  Time extend_by;
  Time warned_of;  // the end that the client was last warned of
};

// A request, from its submission to its end.
struct Entry {
  Request request;
  std::optional<ClientConnection> client;
  bool must_attach = false;                        // its client must come again after a restart
  std::vector<std::shared_ptr<const Pool>> pools;  // one for each slot
  WaitingRequest waiting;                          // the same for the scheduler
  std::optional<Lease> lease;                      // nothing: it waits
  std::size_t queue_index = 0;                     // in State::queue, while it waits
  std::size_t told_place = 0;
  std::string told_why;
};

struct Client {
  Time heard_at;
  std::set<LeaseId> requests;
};

struct State {
  Options options;
  TrackerTerm term{};
  Boards boards;
  // Connections that claim to be a board whose own connection may still live.
  std::map<BoardConnection, BoardId> contenders;
  Pools pools;
  std::unordered_map<LeaseId, std::unique_ptr<Entry>> entries;
  std::vector<Entry*> queue;  // those that wait, in no order
  std::unordered_map<ClientConnection, Client> clients;
  std::map<std::string, std::uint32_t> holders;  // a number for each
  EndedIds ended_ids;
  FairShare shares;
  Timers timers;
  Outbox outbox;
  std::uint64_t attempts = 0;
  bool must_schedule = false;
  bool has_queue_changed = false;
  bool is_notice_due = false;  // the timer of the next queue notice is running
  bool is_step_due = false;    // the timer of the next priority step is running

  std::uint32_t number_of(const std::string& holder) {
    return holders.emplace(holder, static_cast<std::uint32_t>(holders.size())).first->second;
  }
  Entry* find(LeaseId id) {
    const auto found = entries.find(id);
    return found == entries.end() ? nullptr : found->second.get();
  }
};

}  // namespace ferry::farm
