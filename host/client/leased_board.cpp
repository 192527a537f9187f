#include "host/client/leased_board.h"

#include <algorithm>
#include <cmath>

#include "base/throw_status.h"

namespace ferry::session {

namespace {

using std::chrono::milliseconds;

// How long the news of a lease's end may take longer than the end of a session on its board.
constexpr milliseconds kEndNews{500};

// Options that are not given stand for those of the other boards.
template <class T>
void merge(std::optional<T>& all, const std::optional<T>& one, const char* name) {
  if (all && one && *all != *one) {
    throw UsageError(std::string("boards of one farm are leased together: expected the same ") + name +
                     " for all of them, got two");
  }
  if (one) all = one;
}

farm::LeaseObserver observer_of(const ConnectOptions& options) {
  farm::LeaseObserver observer;
  if (options.queued) {
    observer.waiting = [queued = options.queued](const farm::wire::Waiting& waiting) {
      QueuePlace place;
      place.position = waiting.place;
      if (waiting.estimate_ms) place.wait_seconds = static_cast<double>(*waiting.estimate_ms) * 1e-3;
      queued(place);
    };
  }
  observer.is_cancelled = options.is_cancelled;
  observer.notice = options.lease_notice;
  return observer;
}

}  // namespace

std::size_t LeaseGroup::add(const FarmAddress& address) {
  merge(options_.priority, address.priority, "priority");
  merge(options_.length, address.length, "length");
  merge(options_.wait, address.wait, "wait");
  merge(options_.job, address.job, "job");
  if (selectors_.size() == farm::wire::kMaxSlots) {
    throw UsageError("expected at most " + std::to_string(farm::wire::kMaxSlots) + " boards of a farm, got more");
  }
  selectors_.push_back(address.selector);
  return selectors_.size() - 1;
}

farm::wire::GrantedSlot LeaseGroup::board(std::size_t place, const ConnectOptions& options) {
  const std::lock_guard lock(requesting_);
  if (lease_ == nullptr) {
    farm::LeaseWish wish;
    wish.selectors = selectors_;
    wish.length = options_.length;
    if (options_.priority) wish.priority = *options_.priority;
    if (options_.wait) wish.wait = *options_.wait;
    if (options_.job) wish.job = *options_.job;
    if (options.deadlines.queue > 0) {
      const double most = std::min(options.deadlines.queue, static_cast<double>(wish.wait.count()) * 1e-3);
      wish.wait = milliseconds(static_cast<std::int64_t>(std::ceil(most * 1e3)));
    }
    lease_ = take(farm::BoardLease::request(access_, wish, observer_of(options)));
  }
  if (const auto end = lease_->wait_for_end(milliseconds(0))) {
    throw Error(ErrorCode::unavailable, why_ended(place));
  }
  return lease_->slots().at(place);
}

farm::RelayWay LeaseGroup::relay(std::size_t place) const {
  return {access_, lease_->id(), static_cast<std::uint32_t>(place), is_relay_needed_};
}

std::string LeaseGroup::why_ended(std::size_t place) const {
  if (lease_ == nullptr) return "";
  const auto end = lease_->wait_for_end(kEndNews);
  return end ? "the lease of " + lease_->slots().at(place).board + " has ended: " + farm::to_text(*end) : "";
}

}  // namespace ferry::session

namespace ferry {

session::Destination detail::LeasedBoard::destination(const ConnectOptions& options, SharedBoard self) const {
  const farm::wire::GrantedSlot board = group->board(place, options);
  session::Destination to = session::board_destination(board, group->remaining(), name);
  to.board_name = group->access().name + "/" + board.board;
  to.relay = group->relay(place);
  to.board = std::move(self);
  return to;
}

std::vector<SharedBoard> share_boards(const std::vector<std::string>& addresses, const std::string& key_file) {
  std::vector<std::shared_ptr<session::LeaseGroup>> groups;
  std::vector<SharedBoard> boards;
  for (const std::string& address : addresses) {
    SharedBoard& board = boards.emplace_back();
    if (!session::is_of_farm(address)) continue;
    session::Destination to = session::find_destination(address, key_file);
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return farm::to_text(group->access().trackers) == farm::to_text(to.farm.trackers) &&
             group->access().key.bytes == to.farm.key.bytes;
    });
    const auto group =
        same != groups.end() ? *same : groups.emplace_back(std::make_shared<session::LeaseGroup>(to.farm));
    board = std::make_shared<detail::LeasedBoard>(detail::LeasedBoard{group, group->add(to.farm_address), to.name});
  }
  return boards;
}

}  // namespace ferry
