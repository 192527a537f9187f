#include "farm/client/farm_connector.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "base/throw_status.h"
#include "farm/client/farm_address.h"
#include "farm/client/relay.h"
#include "farm/protocol/lease_id.h"
#include "host/client/connect/leased_board.h"

namespace ferry::farm {

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

LeaseObserver observer_of(const ConnectOptions& options) {
  LeaseObserver observer;
  if (options.queued) {
    observer.waiting = [queued = options.queued](const wire::Waiting& waiting) {
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

session::LeasedBoard leased_board(const FarmAccess& farm, const wire::GrantedSlot& slot) {
  return {slot.board, slot.address, slot.epoch, slot.psk, {}, farm.name};
}

// The boards of one farm that a command uses: one request, which is made when the first of them is needed. Thread-safe
// once all have been added.
class SharedLease {
 public:
  explicit SharedLease(FarmAccess farm) : farm_(std::move(farm)) {}

  // Returns the board's place in the request. Throws Error if the address asks for another priority, length, wait or
  // job than those before.
  std::size_t add(const FarmAddress& address) {
    merge(options_.priority, address.priority, "priority");
    merge(options_.length, address.length, "length");
    merge(options_.wait, address.wait, "wait");
    merge(options_.job, address.job, "job");
    if (selectors_.size() == wire::kMaxSlots) {
      throw UsageError("expected at most " + std::to_string(wire::kMaxSlots) + " boards of a farm, got more");
    }
    selectors_.push_back(address.selector);
    return selectors_.size() - 1;
  }
  const FarmAccess& farm() const { return farm_; }

  // Waits until the boards are leased, unless they are already. Throws Error, also if the lease has ended.
  const BoardLease& get(std::size_t place, const ConnectOptions& options) {
    const std::lock_guard lock(requesting_);
    if (lease_ == nullptr)
      lease_ = value_or_throw(BoardLease::request(farm_, lease_options(options), observer_of(options)));
    if (lease_->wait_for_end(milliseconds(0))) throw Error(ErrorCode::unavailable, why_ended(place));
    return *lease_;
  }
  // Both require that get() has returned.
  milliseconds remaining() const { return lease_->remaining(); }
  std::string why_ended(std::size_t place) const {
    const auto end = lease_->wait_for_end(kEndNews);
    return end ? "the lease of " + lease_->slots().at(place).board + " has ended: " + to_text(*end) : "";
  }
  session::Detour detour(std::size_t place) const {
    session::Detour detour = relay_detour({farm_, lease_->id(), static_cast<std::uint32_t>(place)});
    detour.is_needed = is_relay_needed_;
    return detour;
  }

 private:
  LeaseOptions lease_options(const ConnectOptions& options) const {
    LeaseOptions lease;
    lease.selectors = selectors_;
    lease.length = options_.length;
    if (options_.priority) lease.priority = *options_.priority;
    if (options_.wait) lease.wait = *options_.wait;
    if (options_.job) lease.job = *options_.job;
    if (options.deadlines.queue > 0) {
      const double most = std::min(options.deadlines.queue, static_cast<double>(lease.wait.count()) * 1e-3);
      lease.wait = milliseconds(static_cast<std::int64_t>(std::ceil(most * 1e3)));
    }
    return lease;
  }

  const FarmAccess farm_;
  FarmAddress options_;  // without farm and selector
  std::vector<std::string> selectors_;
  const std::shared_ptr<std::atomic<bool>> is_relay_needed_ = std::make_shared<std::atomic<bool>>(false);
  std::mutex requesting_;
  std::unique_ptr<BoardLease> lease_;
};

// That of one board.
class SharedBoardLease final : public session::Lease {
 public:
  SharedBoardLease(std::shared_ptr<SharedLease> shared, std::size_t place)
      : shared_(std::move(shared)), place_(place) {}
  milliseconds remaining() const override { return shared_->remaining(); }
  std::string why_ended() const override { return shared_->why_ended(place_); }

 private:
  std::shared_ptr<SharedLease> shared_;
  std::size_t place_;
};

class FarmConnector final : public session::Connector {
 public:
  // `name` is the address without its options.
  FarmConnector(std::shared_ptr<SharedLease> shared, const FarmAddress& address, std::string name)
      : shared_(std::move(shared)),
        place_(shared_->add(address)),
        selector_(address.selector),
        name_(std::move(name)) {}

  const std::shared_ptr<SharedLease>& shared() const { return shared_; }

  session::Link open(const ConnectOptions& options) override {
    const BoardLease& lease = shared_->get(place_, options);
    session::LeasedBoard board = leased_board(shared_->farm(), lease.slots().at(place_));
    board.lease = std::make_shared<SharedBoardLease>(shared_, place_);
    try {
      return session::board_connector(board, board.name + " (" + name_ + ")", shared_->detour(place_))->open(options);
    } catch (const Error& error) {
      session::throw_explained(board.lease.get(), error);
    }
  }

  void expect_shared_server() const override {
    throw Error(ErrorCode::invalid_argument, name_ + " is whichever board is free: 'ferry farm devices " + selector_ +
                                                 "' shows these boards and who has them, 'ferry farm queue' who waits");
  }

 private:
  std::shared_ptr<SharedLease> shared_;
  std::size_t place_;
  std::string selector_, name_;
};

// Returns the lease of an earlier board of the same farm, or a new one.
std::shared_ptr<SharedLease> lease_of(FarmAccess farm, const session::Connectors& earlier) {
  for (const auto& one : earlier) {
    const auto* other = dynamic_cast<const FarmConnector*>(one.get());
    if (other != nullptr && to_text(other->shared()->farm().trackers) == to_text(farm.trackers) &&
        other->shared()->farm().key.bytes == farm.key.bytes) {
      return other->shared();
    }
  }
  return std::make_shared<SharedLease>(std::move(farm));
}

std::shared_ptr<session::Connector> connector_of(const session::Remote& remote, const session::Connectors& earlier) {
  const FarmAddress address = parse_farm_address(remote.address);
  const std::string key_file = remote.key_file.empty() && remote.entry ? remote.entry->key_file : remote.key_file;
  return std::make_shared<FarmConnector>(lease_of(find_farm(address.farm, key_file), earlier), address,
                                         remote.address.substr(0, remote.address.find('?')));
}

// Nothing if it is not known how the farm is reached.
session::Detour detour_of(const session::LeaseFile& lease, std::size_t board) {
  try {
    return relay_detour(
        {find_farm(lease.farm, ""), value_or_throw(parse_lease(lease.lease)), static_cast<std::uint32_t>(board)});
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

session::Schemes with_farm(session::Schemes schemes) {
  schemes.add({.prefix = kFarmScheme,
               .form = "farm://FARM/SELECTOR",
               .check = [](const std::string& address) { parse_farm_address(address); },
               .connector = connector_of,
               .is_leased = true});
  schemes.add(session::lease_file_scheme(detour_of));
  return schemes;
}

session::Detour relay_detour(RelayRoute route) {
  return {[route = std::move(route)]() -> Result<std::unique_ptr<Transport>> {
    auto relayed = open_relay(route);
    if (relayed.is_ok()) return relayed;
    return Status(relayed.status().code(), "through the tracker: " + relayed.status().message());
  }};
}

session::LeaseFile lease_file_of(const FarmAccess& farm, const BoardLease& lease) {
  session::LeaseFile file{farm.name, lease_text(lease.id()), {}, lease.remaining()};
  for (const wire::GrantedSlot& slot : lease.slots()) file.boards.push_back(leased_board(farm, slot));
  return file;
}

}  // namespace ferry::farm
