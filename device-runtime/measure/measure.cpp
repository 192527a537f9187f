#include "device-runtime/measure/measure.h"

#include "base/format.h"
#include "device-runtime/measure/clock.h"
#include "device-runtime/measure/convergence.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>

namespace ferry::device {
namespace {

// Bounds the number of calls of a workload that takes no measurable time.
constexpr std::uint64_t kMaxNumber = std::uint64_t{1} << 32;
// A sample of this many clock steps is accurate to a tenth of a percent.
constexpr std::int64_t kClockSteps = 1000;

Status refusal(std::string what) { return {ErrorCode::invalid_argument, "measure: " + std::move(what)}; }

// Written so that not-a-number is refused too.
Status check_range(const char* name, double value, double least, double most) {
  if (value >= least && value <= most) return {};
  return refusal(format("expected a %s of %.0f to %.0f, got %.15g", name, least, most, value));
}

Status check(const BenchOptions& plan) {
  const struct {
    const char* name;
    double value, least, most;
  } ranges[] = {{"repeat", double(plan.repeat), 1, kMaxRepeat},
                {"max_repeat", double(plan.max_repeat), 0, kMaxRepeat},
                {"min_repeat_ms", plan.min_repeat_ms, 0, kMaxMilliseconds},
                {"warmup_ms", plan.warmup_ms, 0, kMaxMilliseconds},
                {"cooldown_ms", plan.cooldown_ms, 0, kMaxMilliseconds},
                {"timeout_ms", plan.timeout_ms, 0, kMaxMilliseconds},
                {"tolerance", plan.tolerance, 0, 1}};
  for (const auto& range : ranges) FERRY_TRY(check_range(range.name, range.value, range.least, range.most));
  if (plan.cold && (plan.number != 1 || plan.min_repeat_ms > 0)) {
    return refusal(
        "expected a number of 1 and no min_repeat_ms in cold mode: the second call would find the caches warm");
  }
  return {};
}

std::int64_t nanoseconds(double milliseconds) { return static_cast<std::int64_t>(milliseconds * 1e6); }

void rest(double milliseconds) {
  timespec left{static_cast<time_t>(milliseconds / 1000), static_cast<long>(std::fmod(milliseconds, 1000) * 1e6)};
  while (nanosleep(&left, &left) != 0) {
  }
}

std::uint32_t involuntary_switches() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint32_t>(usage.ru_nivcsw);
}

double quotient(std::int64_t wanted_ns, std::int64_t time_ns) {
  return static_cast<double>(wanted_ns) / static_cast<double>(std::max<std::int64_t>(time_ns, 1));
}

// Estimates how many calls take so many times as long: slightly more than proportional, and always an increase.
std::uint64_t raised(std::uint64_t number, double factor) {
  const double wish = std::ceil(static_cast<double>(number) * std::clamp(1.1 * factor, 1.25, 1000.0));
  return static_cast<std::uint64_t>(std::min(wish, static_cast<double>(kMaxNumber)));
}

class Evaluator {
 public:
  Evaluator(const BenchOptions& plan, std::span<Workload* const> workloads, SampleHooks& hooks, Evaluation& into)
      : plan_(plan), workloads_(workloads), hooks_(hooks), into_(into), wanted_ns_(nanoseconds(plan.min_repeat_ms)) {
    const ClockFacts& clock = clock_facts();
    std::int64_t resolution_ns = clock.resolution_ns;
    for (const Workload* workload : workloads) resolution_ns = std::max(resolution_ns, workload->clock_resolution_ns());
    into.environment.clock_resolution_ns = static_cast<std::uint64_t>(resolution_ns);
    into.environment.clock_overhead_ns = static_cast<std::uint64_t>(clock.overhead_ns);
    if (plan.number == 0) least_ns_ = kClockSteps * resolution_ns;
    into.calls.resize(workloads.size());
    for (Samples& set : into.calls) set.number = std::max(plan.number, 1U);
  }

  Failure run() {
    const std::int64_t started = now_ns();
    if (plan_.warmup_ms > 0) {
      const std::int64_t warm_at = started + nanoseconds(plan_.warmup_ms);
      do {
        if (!call_all()) return failure_;
      } while (now_ns() < warm_at);
    }
    hooks_.warmed_up();
    const std::int64_t begin = now_ns();
    const std::uint32_t most = std::max(plan_.repeat, plan_.max_repeat);
    std::uint32_t next_look = plan_.repeat;
    for (std::uint32_t round = 0; round < most; ++round) {
      if (round == next_look && plan_.tolerance > 0) {
        if (has_converged()) {
          into_.environment.ended = TimingEnd::converged;
          break;
        }
        next_look += std::max(4U, next_look / 8);
      }
      if (round > 0 && plan_.timeout_ms > 0 && now_ns() - started > nanoseconds(plan_.timeout_ms)) {
        into_.environment.ended = TimingEnd::timeout;
        break;
      }
      if (plan_.cooldown_ms > 0) rest(plan_.cooldown_ms);
      if (!take_round(round % 2 != 0)) return failure_;
    }
    into_.environment.elapsed_s = static_cast<double>(now_ns() - begin) * 1e-9;
    for (std::size_t w = 0; w < workloads_.size() && failure_.result == 0; ++w) {
      if (!hooks_.wants_last_call(w)) continue;
      hooks_.prepare(w);
      failure_ = {workloads_[w]->run(), w};
    }
    return failure_;
  }

 private:
  bool call_all() {
    for (std::size_t w = 0; w < workloads_.size(); ++w) {
      Samples& set = into_.calls[w];
      std::int64_t first_ns = 0;
      failure_ = {set.warmup_calls == 0 ? workloads_[w]->first_call(first_ns) : workloads_[w]->run(), w};
      if (failure_.result != 0) return false;
      if (set.warmup_calls++ == 0) set.first_s = static_cast<double>(first_ns) * 1e-9;
    }
    return true;
  }

  // A sample that is being taken.
  struct Taken {
    std::uint64_t left = 0;  // calls
    std::int64_t elapsed_ns = 0, spent_ns = 0;
    std::uint32_t switches = 0;
  };

  // Takes a sample of each workload. Every second round runs in the opposite order, so that a steady drift affects all
  // workloads equally. Returns false if a kernel failed.
  bool take_round(bool backwards) {
    if (std::ranges::all_of(workloads_, [](const Workload* workload) { return workload->calls_in_turn() > 0; })) {
      while (!take_turns(backwards)) {
        if (failure_.result != 0) return false;
      }
      return true;
    }
    for (std::size_t i = 0; i < workloads_.size(); ++i) {
      const std::size_t w = backwards ? workloads_.size() - 1 - i : i;
      while (!take_sample(w)) {
        if (failure_.result != 0) return false;
      }
    }
    return true;
  }

  // Takes the samples of a round together, with some calls of each workload in turn: what disturbs the machine for
  // longer than these take disturbs all alike. Returns false if a kernel failed or a sample was too short to count.
  bool take_turns(bool backwards) {
    std::vector<Taken> samples(workloads_.size());
    for (std::size_t w = 0; w < samples.size(); ++w) {
      samples[w].left = into_.calls[w].number;
      hooks_.begin(w);
    }
    while (std::ranges::any_of(samples, [](const Taken& sample) { return sample.left > 0; })) {
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const std::size_t w = backwards ? samples.size() - 1 - i : i;
        if (!take_part(w, workloads_[w]->calls_in_turn(), samples[w])) return false;
      }
      backwards = !backwards;
    }
    bool count = true;
    for (std::size_t w = 0; w < samples.size(); ++w) count = is_long_enough(w, samples[w]) && count;
    for (std::size_t w = 0; w < samples.size(); ++w) finish_sample(w, samples[w], count);
    return count;
  }

  // Returns false if the kernel failed or the sample was too short to count; its calls then count as warm-up.
  bool take_sample(std::size_t w) {
    hooks_.prepare(w);
    if (plan_.cold) hooks_.cool(w);
    hooks_.begin(w);
    Taken sample;
    sample.left = into_.calls[w].number;
    if (!take_part(w, sample.left, sample)) return false;
    const bool counts = is_long_enough(w, sample);
    finish_sample(w, sample, counts);
    return counts;
  }

  bool take_part(std::size_t w, std::uint64_t most, Taken& sample) {
    Workload& workload = *workloads_[w];
    const std::uint64_t calls = std::min(most, sample.left);
    if (calls == 0) return true;
    const std::uint32_t switches = involuntary_switches();
    std::int64_t elapsed = 0;
    failure_ = {workload.sample(calls, elapsed), w};
    if (failure_.result != 0) return false;
    sample.left -= calls;
    sample.elapsed_ns += elapsed;
    sample.spent_ns += workload.spent_ns(elapsed);
    const std::optional<bool> was_interrupted = workload.was_interrupted();
    sample.switches += was_interrupted ? (*was_interrupted ? 1 : 0) : involuntary_switches() - switches;
    return true;
  }

  bool is_long_enough(std::size_t w, const Taken& sample) const {
    return (sample.spent_ns >= wanted_ns_ && sample.elapsed_ns >= least_ns_) || into_.calls[w].number >= kMaxNumber ||
           plan_.cold;
  }

  void finish_sample(std::size_t w, const Taken& sample, bool counts) {
    Samples& set = into_.calls[w];
    hooks_.end(w, counts ? set.number : 0, sample.spent_ns);
    if (!counts) {
      set.warmup_calls += set.number;
      if (is_long_enough(w, sample)) return;
      const double factor = std::max(quotient(wanted_ns_, sample.spent_ns), quotient(least_ns_, sample.elapsed_ns));
      set.number = raised(set.number, factor);
      return;
    }
    set.seconds.push_back(static_cast<double>(sample.elapsed_ns) * 1e-9 / static_cast<double>(set.number));
    set.switches.push_back(sample.switches);
    set.cores.push_back(static_cast<std::uint32_t>(sched_getcpu()));
  }

  bool has_converged() const {
    for (const Samples& set : into_.calls) {
      if (relative_uncertainty(set.seconds) > plan_.tolerance) return false;
    }
    return true;
  }

  const BenchOptions& plan_;
  std::span<Workload* const> workloads_;
  SampleHooks& hooks_;
  Evaluation& into_;
  std::int64_t wanted_ns_;     // for a sample and what belongs to it
  std::int64_t least_ns_ = 0;  // for its calls
  Failure failure_;
};

}  // namespace

std::int32_t Workload::sample(std::uint64_t calls, std::int64_t& elapsed_ns) {
  std::int32_t failure = 0;
  const std::int64_t begin = now_ns();
  for (std::uint64_t i = 0; i < calls && failure == 0; ++i) failure = run();
  elapsed_ns = std::max<std::int64_t>(now_ns() - begin - clock_overhead_ns(), 0);
  return failure;
}

Result<Failure> measure(const BenchOptions& plan, std::span<Workload* const> workloads, SampleHooks& hooks,
                        Evaluation& into) {
  FERRY_TRY(check(plan));
  return Evaluator(plan, workloads, hooks, into).run();
}

}  // namespace ferry::device
