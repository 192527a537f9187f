#include "farm/client/board_lease.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "base/utf8.h"
#include "farm/client/tracker_connection.h"
#include "farm/protocol/lease_id.h"
#include "rpc/secure/noise.h"

namespace ferry::farm {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = TrackerConnection::Clock;

constexpr seconds kUsualLength{30 * 60};
// Another tracker must get its chance before the lease of a lost one is given up.
constexpr seconds kReconnectTimeout{2};
constexpr milliseconds kFirstPause{50};
constexpr milliseconds kLongestPause{10'000};
// Within the time in which trackers wait for the clients of earlier ones, pauses stay short.
constexpr milliseconds kLongestPauseAtFirst{500};
constexpr seconds kAttachTime{10};
// A connection that ends sooner is followed by a pause.
constexpr seconds kLasting{1};
constexpr seconds kReleaseTimeout{1};
constexpr seconds kExtendTimeout{10};
constexpr milliseconds kCancelPeriod{100};
// How often those who wait hear so.
constexpr std::chrono::minutes kReminder{1};
// After its time to wait is over, a request must have been answered.
constexpr seconds kLateAnswer{15};

ErrorCode code_of(const LeaseEnd& end) {
  if (end.reason == "invalid" || end.reason == "unservable") return ErrorCode::invalid_argument;
  if (end.reason == "wait_expired" || end.reason == "too_hot" || end.reason == "queue_full") return ErrorCode::busy;
  if (end.reason == "cancelled") return ErrorCode::aborted;
  return ErrorCode::unavailable;
}

// Shortens a pause at random by up to a half, so that clients of a lost tracker do not all come at once.
milliseconds jittered(milliseconds pause) { return pause - pause * (random_id() % 512) / 1024; }

}  // namespace

// The state that the thread and the owner share. The thread does all the receiving.
class BoardLease::Worker {
 public:
  Worker(FarmAccess farm, wire::LeaseRequest request, bool is_extended, LeaseObserver observer)
      : farm_(std::move(farm)), observer_(std::move(observer)), record_(std::move(request), is_extended) {}

  void start() {
    thread_ = std::thread([this] { keep(); });
  }

  Status wait_until_granted() {
    std::uint64_t told = 0;
    std::string why;  // no board can be handed out, whoever waits
    Clock::time_point remind_at{};
    std::unique_lock lock(mutex_);
    const auto give_up = Clock::now() + milliseconds(record_.request().wait_ms) + kLateAnswer;
    while (!record_.is_granted()) {
      if (record_.end()) {
        return {code_of(*record_.end()), "the farm " + farm_.name + " gives no board for " + selectors() + ": " +
                                             record_.end()->text + " (" + record_.end()->reason + ", " +
                                             record_.end()->failure_class + ")"};
      }
      if (!failure_.is_ok()) return failure_;
      if (Clock::now() >= give_up) return {ErrorCode::busy, "the farm " + farm_.name + " does not answer"};
      if (told != record_.places_told()) {
        told = record_.places_told();
        const wire::Waiting place = *record_.place();
        lock.unlock();
        if (observer_.waiting) observer_.waiting(place);
        lock.lock();
        if (place.why != why) remind_at = Clock::now();
        why = place.why;
        continue;
      }
      if (!why.empty() && Clock::now() >= remind_at) {
        remind_at = Clock::now() + kReminder;
        lock.unlock();
        if (observer_.notice) observer_.notice("no board can be had at the moment: " + why);
        lock.lock();
        continue;
      }
      const auto pause = observer_.is_cancelled ? kCancelPeriod : milliseconds(1000);
      changed_.wait_for(lock, pause);
      if (observer_.is_cancelled) {
        lock.unlock();
        const bool is_cancelled = observer_.is_cancelled();
        lock.lock();
        if (is_cancelled) return {ErrorCode::aborted, "cancelled while it waited for " + selectors()};
      }
    }
    return {};
  }

  const wire::LeaseRequest& request() const { return record_.request(); }
  const std::vector<wire::GrantedSlot>& slots() const { return record_.slots(); }

  milliseconds remaining() const {
    const std::lock_guard lock(mutex_);
    if (record_.end()) return milliseconds(0);
    return std::max(milliseconds(0), std::chrono::floor<milliseconds>(record_.lasts_until() - Clock::now()));
  }

  Result<milliseconds> extend(milliseconds length) {
    std::unique_lock lock(mutex_);
    const std::uint64_t answered = record_.extensions_answered();
    if (connection_ == nullptr) return Status(ErrorCode::unavailable, "the tracker cannot be reached at the moment");
    FERRY_TRY(connection_->send(wire::Extend{request().id, static_cast<std::uint64_t>(length.count())}));
    const auto is_answered = [&] { return record_.extensions_answered() != answered || record_.end() || is_stopping_; };
    if (!changed_.wait_for(lock, kExtendTimeout, is_answered)) return receive_timed_out(kExtendTimeout);
    if (record_.end()) return Status(ErrorCode::unavailable, "the lease has ended: " + to_text(*record_.end()));
    if (!record_.refusal().empty()) {
      return Status(ErrorCode::busy, "the lease was not extended: " + record_.refusal());
    }
    return std::max(milliseconds(0), std::chrono::floor<milliseconds>(record_.lasts_until() - Clock::now()));
  }

  std::optional<LeaseEnd> wait_for_end(milliseconds timeout) const {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [this] { return record_.end() || is_stopping_; });
    return record_.end();
  }

  // Ends the thread. With `is_released` the tracker is told that the lease is over.
  void stop(bool is_released) {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(is_stopping_, true)) return;
      stop_by_ = Clock::now() + kReleaseTimeout;
      if (connection_ != nullptr) {
        if (is_released && !record_.end()) (void)connection_->send(wire::Release{request().id});
        // The thread then waits for the end of the stream, so that nothing that was sent is lost.
        connection_->close_send();
      }
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  std::string selectors() const {
    std::vector<std::string> quoted;
    for (const std::string& one : request().slots) quoted.push_back("'" + one + "'");
    return join(", ", quoted);
  }

  void keep() {
    std::unique_lock lock(mutex_);
    auto lost_at = Clock::now();
    milliseconds pause = kFirstPause;
    bool was_submitted = false;
    while (!is_stopping_ && !record_.end()) {
      lock.unlock();
      auto opened = dial(was_submitted);
      lock.lock();
      Status lost = opened.status();
      if (opened.is_ok()) {
        if (is_stopping_) break;
        connection_ = std::move(opened.value());
        const auto since = Clock::now();
        lock.unlock();
        lost = follow(was_submitted);
        lock.lock();
        was_submitted = true;
        if (is_stopping_ || record_.end()) break;
        connection_ = nullptr;
        next_ = (next_ + 1) % farm_.trackers.size();
        lost_at = Clock::now();
        const bool has_lasted = lost_at - since >= kLasting;
        if (has_lasted) pause = kFirstPause;
        if (lost.code() == ErrorCode::protocol_error && !record_.is_granted()) failure_ = lost;
        if (has_lasted) continue;  // at once: the next tracker may be waiting already
      } else if (!was_submitted) {
        failure_ = lost;
      } else if (lost.code() == ErrorCode::unauthenticated) {
        record_.set_end({"revoked", "infrastructure", lost.message()});
      } else if (observer_.notice && last_failure_ != lost.message()) {
        lock.unlock();
        observer_.notice("the farm cannot be reached, trying again: " + lost.message());
        lock.lock();
      }
      if (!failure_.is_ok() || record_.end()) break;
      last_failure_ = lost.message();
      give_up_if_over();
      changed_.wait_for(lock, jittered(pause), [this] { return is_stopping_; });
      pause = std::min(2 * pause, Clock::now() - lost_at < kAttachTime ? kLongestPauseAtFirst : kLongestPause);
    }
    const std::unique_ptr<TrackerConnection> connection = std::move(connection_);
    lock.unlock();
    changed_.notify_all();
  }

  // Tries each tracker once, beginning with the next one.
  Result<std::unique_ptr<TrackerConnection>> dial(bool is_again) {
    std::string reasons;
    for (std::size_t i = 0; i < farm_.trackers.size(); ++i, next_ = (next_ + 1) % farm_.trackers.size()) {
      auto opened =
          TrackerConnection::open(farm_, farm_.trackers[next_], is_again ? kReconnectTimeout : kConnectTimeout);
      if (opened.is_ok()) return opened;
      const Status status = opened.status();
      const bool may_pass = status.code() == ErrorCode::unavailable || status.code() == ErrorCode::busy;
      if (status.code() == ErrorCode::unauthenticated || (!is_again && !may_pass)) return status;
      reasons += (reasons.empty() ? "" : "; ") + status.message();
    }
    return Status(ErrorCode::unavailable, reasons);
  }

  // Follows what the tracker says until the connection or the lease ends.
  Status follow(bool is_again) {
    {
      const std::lock_guard lock(mutex_);
      FERRY_TRY(is_again ? connection_->send(wire::Attach{request(), record_.is_granted()})
                         : connection_->send(wire::Submit{request()}));
    }
    while (true) {
      FERRY_ASSIGN(const std::optional<rpc::Frame> frame, connection_->receive(Clock::now() + until_next_duty()));
      std::string notice;
      {
        const std::lock_guard lock(mutex_);
        const auto now = Clock::now();
        if (frame) FERRY_TRY(record_.apply(*frame, now));
        if (record_.end() || (is_stopping_ && now >= stop_by_)) return {};
        if (const auto due = record_.next_extension(); due && now >= *due && !is_stopping_) {
          record_.extension_was_asked(now);
          FERRY_TRY(connection_->send(wire::Extend{request().id, request().length_ms}));
        }
        notice = record_.take_notice();
      }
      changed_.notify_all();
      if (!notice.empty() && observer_.notice) observer_.notice(notice);
    }
  }

  Clock::duration until_next_duty() {
    const std::lock_guard lock(mutex_);
    auto next = Clock::now() + seconds(1);
    if (const auto due = record_.next_extension()) next = std::min(next, *due);
    if (is_stopping_) next = std::min(next, stop_by_);
    return std::max(next - Clock::now(), Clock::duration::zero());
  }

  // The board ends a lease at its time, whether a tracker can be reached or not.
  void give_up_if_over() {
    if (record_.is_granted() && Clock::now() >= record_.lasts_until()) {
      record_.set_end({"lease_expired", "timeout", "no tracker could be reached to extend it: " + last_failure_});
    }
  }

  const FarmAccess farm_;
  const LeaseObserver observer_;
  std::size_t next_ = 0;  // the next tracker's number; the thread's alone

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  LeaseStatus record_;
  // Set and reset by the thread, which alone receives; others use it with the mutex held.
  std::unique_ptr<TrackerConnection> connection_;
  Status failure_;            // why the first attempt to submit failed
  std::string last_failure_;  // to reach a tracker
  bool is_stopping_ = false;
  Clock::time_point stop_by_;
  std::thread thread_;
};

BoardLease::BoardLease(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}

Result<std::unique_ptr<BoardLease>> BoardLease::request(const FarmAccess& farm, const LeaseOptions& options,
                                                        LeaseObserver observer) {
  wire::LeaseRequest request;
  request.id = random_id();
  request.slots = options.selectors;
  request.priority = options.priority;
  request.length_ms = static_cast<std::uint64_t>(options.length.value_or(kUsualLength).count());
  request.wait_ms = static_cast<std::uint64_t>(options.wait.count());
  request.kind = options.kind;
  request.job = std::string(utf8_prefix(printable(options.job), wire::kMaxText));
  const bool is_extended = (options.is_extended || !options.length) && options.kind == wire::LeaseKind::attached;
  std::unique_ptr<BoardLease> lease(
      new BoardLease(std::make_unique<Worker>(farm, std::move(request), is_extended, std::move(observer))));
  lease->worker_->start();
  if (const Status status = lease->worker_->wait_until_granted(); !status.is_ok()) {
    lease->release();
    return status;
  }
  return lease;
}

BoardLease::~BoardLease() { worker_->stop(worker_->request().kind == wire::LeaseKind::attached); }

std::uint64_t BoardLease::id() const { return worker_->request().id; }

const std::vector<wire::GrantedSlot>& BoardLease::slots() const { return worker_->slots(); }

milliseconds BoardLease::remaining() const { return worker_->remaining(); }

Result<milliseconds> BoardLease::extend(milliseconds length) { return worker_->extend(length); }

std::optional<LeaseEnd> BoardLease::wait_for_end(milliseconds timeout) const { return worker_->wait_for_end(timeout); }

void BoardLease::release() { worker_->stop(true); }

}  // namespace ferry::farm
