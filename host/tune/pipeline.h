// Builds points and runs them at the same time: threads that wait for builds keep a few results ready for threads that
// each have a device, so that no device waits for a compiler, or for a link, while there is something to try.
#pragma once

#include "host/compiler/api/space_point.h"
#include "host/tune/builder/builder.h"
#include "host/tune/runner/runner.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace ferry::tune {

// A point that was tried.
struct Tried {
  SpacePoint point;
  Trial trial;
  Hash code{};
  std::shared_ptr<const ModuleBytes> module = {};  // null if it was not built
  std::string device;                              // where it ran
  std::map<std::string, std::string> environment = {};
};

struct PipelineParts {
  // Returns the next point to try; nothing if there is none now. Called by one thread at a time.
  std::function<std::optional<SpacePoint>()> next;
  std::function<Hash(const ModuleBytes& module)> identity;  // equal code is run once
  unsigned builders = 1;
  std::vector<std::unique_ptr<Runner>> runners;
};

class Pipeline {
 public:
  explicit Pipeline(PipelineParts parts) : parts_(std::move(parts)), alive_(parts_.runners.size()) {}
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Begins to build and run points, or goes on after pause(). The builder must outlive the next pause().
  void start(Builder& builder);
  // Ends the threads: no build begins any more, and runners try what is ready until those that have begun are over.
  // Built points are kept for the next start(), and results for the next wait(). Then the runners are free.
  void pause();
  // Waits for up to so many seconds. Throws the first runner's error once no runner is left.
  std::optional<Tried> wait(double seconds);
  // Returns a result that is there, also when no runner is left; nothing if there is none.
  std::optional<Tried> left();
  // What is slower than this by far need not be measured to the end.
  void set_best(double seconds);
  // Returns the text of a point that a device runs now; empty if there is none.
  std::string running();
  // Whether there was no next point, and nothing is being tried.
  bool is_exhausted();
  // There may be a next point again. Any thread may call it.
  void try_again();
  // Calls this with `next` and everything else of the pipeline standing still.
  void with_lock(const std::function<void()>& work);
  Runner& runner(std::size_t index) { return *parts_.runners[index]; }

 private:
  BuildResult build(const SpacePoint& point) const;
  void build_points();
  void run_points(std::size_t number);
  // A runner's trials, by their numbers.
  using AtHand = std::map<std::uint64_t, Tried>;
  void submit_ready(Runner& runner, AtHand& at_hand);
  // Whether runners take more points: after pause(), as long as builds that had begun go on. The lock is held.
  bool goes_on() const { return !must_end_ || building_ > 0; }
  void add_result(Tried tried);
  // The lock is held by callers of these.
  std::optional<Tried> take_done();
  void lose(std::size_t number, std::exception_ptr error);

  PipelineParts parts_;
  Builder* builder_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Tried> ready_, done_;
  std::map<Hash, Trial> by_code_;
  std::uint64_t submitted_ = 0;  // trials
  unsigned building_ = 0, running_ = 0;
  std::string running_point_;   // the last that was begun
  std::size_t alive_ = 0;       // runners
  std::set<std::size_t> gone_;  // numbers of the others
  bool must_end_ = false, has_no_next_ = false;
  double best_seconds_ = 0;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace ferry::tune
