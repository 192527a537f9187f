// A search that another program makes, over lines of JSON (docs/tuning_search.md, A search of your own).
#pragma once

#include "host/tune/foreign/child_process.h"
#include "host/tune/search/searcher.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace ferry::tune {

// The task as the program is told of it.
struct SearchTask {
  std::string function;
  std::map<std::string, std::int64_t> sizes;
  std::vector<std::string> fixed;
  std::string arch, cpu;
  std::uint32_t threads = 0;
};

// The best point of earlier runs.
struct KnownBest {
  SpacePoint point;
  double share_of_default = 1;
};

class ForeignSearcher final : public Searcher {
 public:
  // Starts the command, and tells it of the task. Throws Error if the command cannot be started.
  ForeignSearcher(const std::string& command, const SearchTask& task, const std::optional<KnownBest>& best,
                  SpaceAt space);
  // Begins to listen, once. `on_points` is called on another thread when there are points to try, or when no more come.
  void start(std::function<void()> on_points);

  // The default comes first, whatever the program does.
  std::optional<SpacePoint> next() override;
  void report(const SpacePoint& point, const PointResult& result) override;
  bool is_thinking() override;
  std::string failure() override;

 private:
  using Json = nlohmann::ordered_json;
  // A point that was asked for or reported.
  struct Known {
    std::optional<PointResult> result = {};
    std::vector<Json> waiting = {};  // as the program named it
  };

  void take_line(std::string_view line);
  void take_point(const Json& named);
  void answer(const Json& named, const PointResult& result, const SpacePoint* point);

  SpaceAt space_;
  std::function<void()> on_points_;
  std::mutex mutex_;
  std::deque<SpacePoint> points_;
  std::map<std::vector<std::string>, Known> known_;  // by their values in order
  std::size_t waiting_ = 0;                          // names of points whose results are not known yet
  bool has_default_ = false;
  ChildProcess program_;  // the last, so that its thread ends first
};

}  // namespace ferry::tune
