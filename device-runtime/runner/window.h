// The judge's side of a runner: it opens windows, in which the runner makes calls, and notes when they end. All times
// are the judge's own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <memory>
#include <vector>

#include "device-runtime/runner/stops.h"
#include "device-runtime/runner/zygote.h"

namespace ferry::device {

struct RunnerPage;

// What happened in a window.
struct Window {
  std::int64_t elapsed_ns = 0;    // from before the runner was allowed to run until all of its threads had stopped
  std::int64_t processor_ns = 0;  // the time of all threads of the runner
  std::int32_t result = 0;        // as the runner says
};

class Windows {
 public:
  // The runner has `workers` threads besides its first. The page is read and written in this process.
  Windows(RunnerProcess runner, std::unique_ptr<Stops> stops, std::uint32_t workers, RunnerPage& page);

  // Waits until all threads of a new runner have stopped. Returns false if it has ended.
  bool begin();
  // Lets the runner make so many calls. Returns false if it has ended.
  bool open(std::uint64_t calls, Window& window);
  pid_t process() const { return runner_.process; }
  // Whether all of the runner's threads are stopped.
  bool are_stopped() const { return first_.id != 0 && workers_.size() == worker_count_; }
  // Whether the runner has used threads besides its first.
  bool uses_threads() const { return uses_threads_; }
  // Processor time of the runner outside of windows, in which it may not run.
  std::int64_t outside_ns() const { return outside_ns_; }
  // Whether it said that a thread had stopped when none ran.
  bool has_lied() const { return has_lied_; }
  // Whether its threads are stopped for certain.
  bool are_held() const { return stops_->are_held() && are_stopped(); }

 private:
  bool receive();
  bool answer_first();
  bool release_workers();
  bool wait();
  std::int64_t processor_ns() const;
  std::int64_t processor_ns_at_rest(bool with_workers) const;

  RunnerProcess runner_;
  std::unique_ptr<Stops> stops_;
  RunnerPage& page_;
  clockid_t clock_{};
  // The stops that are not answered.
  Stop first_;
  std::vector<Stop> workers_;
  std::uint32_t worker_count_;
  bool uses_threads_ = false, has_lied_ = false;
  std::int64_t stopped_ns_ = 0;  // when the last stop was noticed
  std::int64_t processor_end_ns_ = 0, outside_ns_ = 0;
};

}  // namespace ferry::device
