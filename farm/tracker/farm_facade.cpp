#include "farm/tracker/farm_facade.h"

#include <asio/post.hpp>
#include <memory>
#include <optional>

namespace ferry::farm {
namespace {

constexpr std::chrono::seconds kTimeout{5};

// The answer that one thread waits for. It may have given up when the answer comes.
template <class T>
struct Wait {
  std::mutex mutex;
  std::condition_variable answered;
  std::optional<Result<T>> answer;
};

// The database's clock, of which a tracker that stands by knows nothing.
Time now_of(const ActiveScheduler& scheduler) {
  if (scheduler) return scheduler.now();
  return Time(std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
}

Status stands_by() { return {ErrorCode::unavailable, "this tracker stands by: another one schedules"}; }

}  // namespace

template <class T, class Work>
Result<T> FarmFacade::wait_for(Work work) {
  const auto wait = std::make_shared<Wait<T>>();
  const Answer<T> then = [wait](const Result<T>& answer) {
    {
      const std::lock_guard lock(wait->mutex);
      wait->answer = answer;
    }
    wait->answered.notify_one();
  };
  asio::post(loop_.context(), [work = std::move(work), then] { work(then); });
  std::unique_lock lock(wait->mutex);
  if (wait->answered.wait_for(lock, kTimeout, [&] { return wait->answer.has_value(); })) return *wait->answer;
  return Status(ErrorCode::unavailable, "the tracker does not answer in time");
}

#define FERRY_ASK(tag, request, reply, name, directions)                                  \
  Result<wire::reply> FarmFacade::ask(const Caller& caller, const wire::request& query) { \
    return wait_for<wire::reply>([this, caller, query](const Answer<wire::reply>& then) { \
      scheduler_ ? queries_.answer(caller, query, then) : then(stands_by());              \
    });                                                                                   \
  }
FERRY_FARM_QUERIES(FERRY_ASK)
#undef FERRY_ASK

Result<wire::DeviceListing> FarmFacade::find_board(const Caller&, const std::string& name) {
  return wait_for<wire::DeviceListing>([this, name](const Answer<wire::DeviceListing>& then) {
    if (!scheduler_) return then(stands_by());
    then(listings_.find_board(name));
  });
}

Result<Caller> FarmFacade::find_token(std::string_view token) {
  return wait_for<Caller>([this, token = std::string(token)](const Answer<Caller>& then) {
    const Credential* const holder = keys_.holder_of_token(token, now_of(scheduler_));
    if (holder == nullptr)
      return then(Status(ErrorCode::unauthenticated, "this token is unknown, has expired or was revoked"));
    then(Caller{holder->label, holder->role});
  });
}

Result<FarmNumbers> FarmFacade::numbers() {
  return wait_for<FarmNumbers>([this](const Answer<FarmNumbers>& then) { then(count_()); });
}

std::uint64_t FarmFacade::change_count() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

void FarmFacade::set_change_listener(std::function<void()> listener) {
  const std::lock_guard lock(mutex_);
  on_change_ = std::move(listener);
}

void FarmFacade::has_changed() {
  const std::lock_guard lock(mutex_);
  ++changes_;
  if (on_change_) on_change_();
}

}  // namespace ferry::farm
