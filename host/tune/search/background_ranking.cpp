#include "host/tune/search/background_ranking.h"

namespace ferry::tune {

BackgroundRanking::~BackgroundRanking() {
  {
    const std::lock_guard lock(mutex_);
    must_end_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void BackgroundRanking::resume() {
  const std::lock_guard lock(mutex_);
  if (--pauses_ > 0) return;
  if (!thread_.joinable()) thread_ = std::thread([this] { rank(); });
  changed_.notify_all();
}

void BackgroundRanking::pause() {
  ++pauses_;
  const std::lock_guard lock(mutex_);
}

std::optional<Modelled> BackgroundRanking::take() {
  if (!is_ranked_) return std::nullopt;
  if (error_) std::rethrow_exception(error_);
  return std::move(modelled_);
}

std::unique_lock<std::mutex> BackgroundRanking::turn() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return pauses_ <= 0 || must_end_; });
  if (must_end_) throw Ended{};
  return lock;
}

void BackgroundRanking::rank() {
  const SpaceAt space = [this](const PointValues& values) {
    const std::unique_lock lock = turn();
    return space_(values);
  };
  const PointCost cost = [this](const SpacePoint& point) {
    const std::unique_lock lock = turn();
    return cost_(point);
  };
  try {
    Modelled modelled = rank_points(space, cost, seed_);
    // The search asks for more costs on a thread of its own.
    modelled.costs.ask(cost_);
    modelled_ = std::move(modelled);
  } catch (const Ended&) {
    return;
  } catch (...) {
    error_ = std::current_exception();
  }
  is_ranked_ = true;
  if (on_ranked_) on_ranked_();
}

}  // namespace ferry::tune
