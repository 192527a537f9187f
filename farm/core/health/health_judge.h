// Judges the health of a board by the times of a reference job, which it runs again and again: a board that has become
// slower or faster than it was gives other times to its users, too.
//
// The times are compared with a baseline that is frozen once it is known. There is one for each environment, since
// times under another governor or firmware are not comparable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ferry::farm {

// The measurements of the reference job in each of its sessions.
enum class HealthMetric : std::uint8_t { compute, memory, ping };
inline constexpr std::size_t kHealthMetrics = 3;
const char* health_metric_name(HealthMetric metric);

using HealthTimes = std::array<double, kHealthMetrics>;  // seconds, of one session

struct HealthEnvironment {
  std::string kernel;  // hash of the reference module and of what its times depend on
  std::string governor;
  std::string firmware;

  bool operator==(const HealthEnvironment&) const = default;
};

struct HealthCheck {
  HealthEnvironment environment;
  std::vector<HealthTimes> sessions;  // kHealthSessions

  bool operator==(const HealthCheck&) const = default;
};

struct HealthBaseline {
  HealthEnvironment environment;
  HealthTimes median{};
  HealthTimes deviation{};  // scaled median absolute deviation of the sessions

  bool operator==(const HealthBaseline&) const = default;
};

inline constexpr std::size_t kHealthSessions = 5;
// Number of checks from which a baseline is made.
inline constexpr std::size_t kBaselineChecks = 12;
// The median of a check's sessions deviates if it is further from the baseline than this share of it and than so many
// deviations.
inline constexpr double kHealthTolerance = 0.05;
inline constexpr double kHealthDeviations = 6;
// The oldest baseline is forgotten beyond this number.
inline constexpr std::size_t kMaxBaselines = 16;

enum class HealthVerdict : std::uint8_t {
  learning,  // there is no baseline for the environment yet
  passed,
  unconfirmed,  // deviates: check again, once the board has cooled to its own baseline
  failed,       // deviates again, in the same way, or the times are no times
};

struct HealthJudgement {
  HealthVerdict verdict = HealthVerdict::learning;
  std::string reason;  // "compute takes 1.32 ms, baseline 1.12 ms, expected at most 1.18 ms"; empty if it passed
  std::optional<HealthMetric> deviating = {};
  std::optional<HealthTimes> baseline = {};  // the medians with which the times were compared
};

// How a check differed from the baseline.
struct HealthDeviation {
  HealthEnvironment environment;
  HealthMetric metric{};
  bool is_slower = false;

  bool operator==(const HealthDeviation&) const = default;
};

// All that a judge knows.
struct HealthKnowledge {
  std::vector<HealthBaseline> baselines;       // frozen, the latest last
  HealthCheck learned;                         // the sessions so far of the environment that is being learned
  std::optional<HealthDeviation> unconfirmed;  // the latest check's

  bool operator==(const HealthKnowledge&) const = default;
};

class HealthJudge {
 public:
  HealthJudge() = default;
  // Continues with what an earlier one knew.
  explicit HealthJudge(HealthKnowledge knowledge) : known_(std::move(knowledge)) {}

  HealthJudgement judge(const HealthCheck& check);

  const HealthKnowledge& knowledge() const { return known_; }
  const std::vector<HealthBaseline>& baselines() const { return known_.baselines; }
  // Forgets the baseline of an environment, because the board was repaired, say.
  void forget(const HealthEnvironment& environment);

 private:
  HealthJudgement learn(const HealthCheck& check);

  HealthKnowledge known_;
};

}  // namespace ferry::farm
