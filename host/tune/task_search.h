// The search for the fastest schedule of one task, in one turn or several: between them it holds no device, but goes on
// where it was.
#pragma once

#include "host/tune/finalists.h"
#include "host/tune/foreign/foreign_searcher.h"
#include "host/tune/pipeline.h"
#include "host/tune/records/tune_record.h"
#include "host/tune/runner/device_runner.h"
#include "host/tune/runner/kept_session.h"
#include "host/tune/search/background_ranking.h"
#include "host/tune/search/searcher.h"
#include "host/tune/trial_records.h"
#include "host/tune/tune.h"
#include "host/tune/tuned_task.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferry::tune {

struct SearchTurn {
  double seconds = 0;                        // how long it lasts, but at least one point is tried
  std::optional<std::uint64_t> trials = {};  // points that are tried, if that is limited
  std::function<void(const TuneRecord& trial, const Progress& progress)> on_trial = {};
};

class TaskSearch {
 public:
  // Compiles the default schedule, and reads what earlier runs recorded. Everything must outlive the search, but for
  // the kernel. Throws as tune().
  TaskSearch(std::span<KeptSession> devices, const TunedKernel& kernel, const TuneOptions& options,
             const Observer& observer);
  TaskSearch(const TaskSearch&) = delete;
  TaskSearch& operator=(const TaskSearch&) = delete;

  // Measures what the device can do at best, for progress(); where that fails, the observer is told.
  void measure_peak();
  // Tries points until the turn or the space ends, or the observer interrupts it. Returns how many were tried.
  std::uint64_t search(const SearchTurn& turn);
  // Measures the best again, in turns with the default and in processes of their own. Returns records of those that are
  // faster, the fastest first; they are not stored. `until` as for Finalists::rank().
  std::vector<TuneRecord> rank(std::optional<std::chrono::steady_clock::time_point> until = {});
  // Measures the default schedule again, in a process of its own. Returns the seconds; nothing if that failed.
  std::optional<double> time_default();
  // Returns a record of the default schedule, which a turn must have measured; it is not stored.
  TuneRecord default_record() const;
  // Returns the best, as the last rank() found them.
  const Finalists& finalists() const { return finalists_; }

  const TunedTask& task() const { return task_; }
  const TrialRecords& records() const { return *records_; }
  const std::string& device() const { return devices_.front().name(); }
  // Returns the identity of code.
  Hash identity(const ModuleBytes& module) const { return compiler_.code_identity(module); }
  const Progress& progress() const { return progress_; }
  double compile_seconds() const { return compile_seconds_; }   // for the default schedule
  const TuneRecord& best() const { return best_; }              // among those that were tried
  std::size_t earlier() const { return earlier_; }              // records of the task that were there before
  std::optional<double> earlier_share() const;                  // the best of these, of the default's time
  std::string failure() const { return searcher_->failure(); }  // as Searcher::failure()

 private:
  // A point of an earlier run.
  struct EarlierPoint {
    SpacePoint point;
    std::optional<double> share;  // its time over the default's, if it was measured
    std::string failure;          // otherwise
  };
  class Ranks;
  // Has a builder while it lives, and lets go of the devices in the end.
  class Active;

  // Builds what the process of a builder does, but has the default schedule's code.
  class KnowsDefault;

  void make_runner_task(Builder& builder);
  void read_earlier();
  std::optional<KnownBest> best_of_earlier() const;
  void report_earlier(double default_seconds);
  void make_searcher();
  void make_pipeline();
  bool is_over();
  void take(const Tried& tried, const SearchTurn& turn);

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::span<KeptSession> devices_;
  const TuneOptions& options_;
  const Observer& observer_;
  const Compiler& compiler_;
  TunedTask task_;
  std::unique_ptr<Builder> builder_;  // while it is needed
  RunnerTask runner_task_;
  PointInOrder default_values_;  // values of its default schedule
  double compile_seconds_ = 0;
  std::optional<TrialRecords> records_;
  std::vector<EarlierPoint> earlier_points_;
  std::size_t earlier_ = 0;
  // The threads of the searcher and the ranking call the pipeline, so they end first.
  std::optional<Pipeline> pipeline_;
  std::unique_ptr<Searcher> searcher_;
  std::unique_ptr<BackgroundRanking> ranking_;  // null with a searcher of the user's own
  Finalists finalists_;
  Progress progress_;
  TuneRecord best_;
};

}  // namespace ferry::tune
