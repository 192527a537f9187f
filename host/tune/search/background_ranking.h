// Ranks points by a cost model on a thread of its own, while others are built and run.
#pragma once

#include "host/tune/search/modelled_points.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace ferry::tune {

// It stands still until the first resume(), and before a point while there were more calls of pause() than of resume():
// it holds no locks then, so that the process may be forked. Any thread may call the methods, except take().
class BackgroundRanking {
 public:
  BackgroundRanking(SpaceAt space, PointCost cost, std::uint64_t seed)
      : space_(std::move(space)), cost_(std::move(cost)), seed_(seed) {}
  ~BackgroundRanking();
  BackgroundRanking(const BackgroundRanking&) = delete;
  BackgroundRanking& operator=(const BackgroundRanking&) = delete;

  // Called on the thread when take() has something to return. Set before the first resume().
  void on_ranked(std::function<void()> call) { on_ranked_ = std::move(call); }
  void resume();
  // Waits until the point that is being estimated is done.
  void pause();
  // As TakeModelled. Throws what the space or the cost have thrown.
  std::optional<Modelled> take();

 private:
  struct Ended {};

  void rank();
  // Waits until it may work on a point, and keeps pause() waiting as long as the lock is held.
  std::unique_lock<std::mutex> turn();

  SpaceAt space_;
  PointCost cost_;
  std::uint64_t seed_;
  std::function<void()> on_ranked_;
  std::mutex mutex_;  // held while a point is worked on
  std::condition_variable changed_;
  // Counted before pause() waits for the mutex, which the thread would otherwise take again at once.
  std::atomic<int> pauses_ = 1;
  std::atomic<bool> must_end_ = false, is_ranked_ = false;
  std::optional<Modelled> modelled_;  // once it is ranked
  std::exception_ptr error_;          // the same
  std::thread thread_;
};

}  // namespace ferry::tune
