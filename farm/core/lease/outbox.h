// Collects what one event makes the machine do: records for one commit, actions at once, and effects that must wait for
// the commit.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <variant>
#include <vector>

#include "farm/core/lease/actions.h"

namespace ferry::farm {

// Announces the lease that the request has since this attempt, unless it has ended meanwhile.
struct AnnounceStart {
  LeaseId lease{};
  std::uint64_t attempt = 0;
};

struct AnnounceExtension {
  LeaseId lease{};
  std::uint32_t extension = 0;
};

// Withdraws a lease over the connection that the board has by then.
struct Withdraw {
  BoardId board{};
  lease::LeaseKey key;
};

using Effect = std::variant<AnnounceStart, AnnounceExtension, Withdraw, Action>;

class Outbox {
 public:
  void send(Action action) { actions_.push_back(std::move(action)); }
  void record(Record record) { records_.push_back(std::move(record)); }
  // Runs the effect once all that was recorded so far, by this event and earlier ones, is persisted.
  void after_commit(Effect effect) { waiting_.emplace_back(last_commit_ + 1, std::move(effect)); }

  // Returns the effects that no longer wait.
  std::vector<Effect> take_persisted(std::uint64_t commit) {
    std::vector<Effect> effects;
    for (; !waiting_.empty() && waiting_.front().first <= commit; waiting_.pop_front())
      effects.push_back(std::move(waiting_.front().second));
    return effects;
  }

  // Returns the actions of this event. An event that makes effects wait is one that records something, or else must
  // commit nothing in order to know when the records before it are persisted.
  std::vector<Action> flush(TrackerTerm term) {
    if (!records_.empty() || (!waiting_.empty() && waiting_.back().first > last_commit_))
      actions_.push_back(Persist{term, ++last_commit_, std::exchange(records_, {})});
    return std::exchange(actions_, {});
  }

 private:
  std::vector<Action> actions_;
  std::vector<Record> records_;
  std::deque<std::pair<std::uint64_t, Effect>> waiting_;  // with the commit that each waits for
  std::uint64_t last_commit_ = 0;
};

}  // namespace ferry::farm
