#include "device-runtime/handlers/evaluate.h"

#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/format.h"
#include "device-runtime/facts/watched_files.h"
#include "device-runtime/handlers/call_arguments.h"
#include "device-runtime/handlers/call_threads.h"
#include "device-runtime/handlers/cold_calls.h"
#include "device-runtime/handlers/device_texts.h"
#include "device-runtime/handlers/fresh_call.h"
#include "device-runtime/handlers/fresh_outputs.h"
#include "device-runtime/handlers/isolated_calls.h"
#include "device-runtime/handlers/kernel_running.h"
#include "device-runtime/measure/counters.h"

namespace ferry::device {
namespace {

constexpr std::size_t kMaxCalls = 8;
// The samples, of 16 bytes each, and the watched texts must fit the body of the answer.
constexpr std::size_t kMaxSamples = 60'000;
constexpr std::size_t kFewEmptyWindows = 5;
// The answer has a bit for each witness, and for each check.
constexpr std::size_t kMostBeside = 64;

struct Subject {
  CheckedCall call;
  std::unique_ptr<Workload> workload;  // null: it is isolated
  // The arguments of its witnesses, and of its checks, of which those of other sizes are the last.
  std::vector<FreshCall::Beside> witnesses, checks;
  std::vector<OtherCall> others = {};
  std::unique_ptr<FreshCall> fresh;  // what measures it if it gets new inputs; null: it does not
  Counters* counters = nullptr;      // its process's own; null: this process counts
  Counts counted{};
  double calls = 0;
};

rusage usage_now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

// Counters run only during samples, and caches are emptied before each. The state of the board is read between warm-up
// and the first round, since an idle core's frequency says nothing about the measurement.
class Hooks final : public SampleHooks {
 public:
  Hooks(const SessionAccess& access, RequestContext& context, const std::vector<std::string>& watch,
        std::vector<Subject>& subjects, FreshOutputs* fresh, ColdCalls* cold, Evaluation& into)
      : published_(context.activity().measured),
        measured_{context.id()},
        watch_(watch),
        subjects_(subjects),
        texts_([&device = *subjects.front().call.module->devices.front(), &broker = access.broker](
                   const std::vector<std::string>& paths) { return device_texts(device, broker, paths); }),
        fresh_(fresh),
        cold_(cold),
        into_(into) {}

  void warmed_up() override {
    into_.environment.watched = watch_before(watch_, texts_);
    before_rounds_ = usage_now();
  }
  void prepare(std::size_t w) override {
    if (fresh_ != nullptr) beside([&] { fresh_->prepare(w); });
  }
  void cool(std::size_t w) override {
    if (cold_ != nullptr) beside([&] { cold_->empty_caches(w); });
  }
  void begin(std::size_t w) override {
    Counters& counters = counters_of(w);
    before_ = counters.read();
    counters.start();
  }
  void end(std::size_t w, std::uint64_t calls, std::int64_t spent_ns) override {
    counters_of(w).stop();
    if (fresh_ != nullptr) beside([&] { fresh_->inspect(w, into_.calls[w]); });
    ++measured_.samples;
    measured_.total_ns += spent_ns;
    measured_.ended_ns = now_ns();
    published_.set(measured_);
    if (calls == 0) return;
    const Counts after = counters_of(w).read();
    for (std::size_t kind = 0; kind < kCounterKinds; ++kind) subjects_[w].counted[kind] += after[kind] - before_[kind];
    subjects_[w].calls += static_cast<double>(calls);
  }
  bool wants_last_call(std::size_t w) override { return fresh_ != nullptr && fresh_->accumulates(w); }

  // Calls made before are counted without the threads that they left waiting.
  void open_counters() {
    if (subjects_.front().counters != nullptr) return;
    counters_.open();
    if (counters_.error() == 0) subjects_.front().call.module->devices.front()->follow_caller();
  }
  void finish() {
    count_switches();
    watch_after(into_.environment.watched, texts_);
    into_.environment.counters_errno = static_cast<std::uint32_t>(counters_of(0).error());
    for (std::size_t w = 0; w < subjects_.size(); ++w) {
      const Subject& subject = subjects_[w];
      into_.calls[w].cycles = subject.counted[kCycles] / subject.calls;
      into_.calls[w].instructions = subject.counted[kInstructions] / subject.calls;
      into_.calls[w].cache_misses = subject.counted[kCacheMisses] / subject.calls;
      into_.calls[w].inspected = fresh_ != nullptr || subject.fresh != nullptr;
      if (subject.fresh != nullptr) subject.fresh->add_counts(into_.calls[w]);
    }
  }

 private:
  Counters& counters_of(std::size_t w) { return subjects_[w].counters != nullptr ? *subjects_[w].counters : counters_; }

  void count_switches() {
    const rusage now = usage_now();
    TimingEnvironment& environment = into_.environment;
    environment.voluntary_switches = static_cast<std::uint64_t>(now.ru_nvcsw - before_rounds_.ru_nvcsw);
    environment.involuntary_switches = static_cast<std::uint64_t>(now.ru_nivcsw - before_rounds_.ru_nivcsw);
    if (subjects_.front().counters == nullptr) return;
    // This process waits, and the system counts those of others for these alone.
    environment.voluntary_switches = 0;
    for (const Samples& samples : into_.calls)
      for (const std::uint32_t switches : samples.switches) environment.involuntary_switches += switches;
  }

  // Does work between samples, which counts as measured.
  template <class Work>
  void beside(const Work& work) {
    const std::int64_t begin = now_ns();
    work();
    measured_.total_ns += now_ns() - begin;
  }

  PublishedTime& published_;
  MeasuredTime measured_;
  const std::vector<std::string>& watch_;
  std::vector<Subject>& subjects_;
  TextsOfPaths texts_;
  FreshOutputs* fresh_;
  ColdCalls* cold_;
  Evaluation& into_;
  Counters counters_;
  Counts before_{};
  rusage before_rounds_{};
};

Status check_request(std::size_t calls, const BenchOptions& options) {
  const std::size_t repeat = std::max(options.repeat, options.max_repeat);
  if (calls >= 1 && calls <= kMaxCalls && repeat <= kMaxSamples / calls) return {};
  return {ErrorCode::invalid_argument,
          format("measure: expected 1 to %zu calls and at most %zu samples of all, got %zu calls of %zu samples",
                 kMaxCalls, kMaxSamples, calls, repeat)};
}

// Starts processes for the calls if the client wants that, and says in the answer how that went.
void isolate(const BenchOptions& options, std::vector<Subject>& subjects, std::uint32_t threads, bool has_run_code,
             IsolatedCalls& isolated, TimingEnvironment& environment) {
  if (!options.isolated) return;
  std::vector<IsolatedCalls::Call> calls;
  for (Subject& subject : subjects) calls.push_back({&subject.call, subject.others});
  const bool wants_twins = options.fresh_inputs && options.poison.exists();
  const ArgumentSets sets = !wants_twins   ? ArgumentSets::one
                            : options.cold ? ArgumentSets::one_with_twin
                                           : ArgumentSets::many_with_twins;
  RunnerOptions runner;
  runner.threads = threads;
  // A single sample says no more than these.
  if (std::max(options.repeat, options.max_repeat) == 1) runner.empty_windows = kFewEmptyWindows;
  environment.not_isolated = isolated.start(std::move(calls), runner, sets);
  if (!isolated.exist()) return;
  if (has_run_code)
    environment.not_isolated = "other calls ran in the session's own process before, which their code may rule since";
  environment.isolation = isolated.workload(0).method();
  environment.small_pages = isolated.have_small_pages();
  for (std::size_t i = 0; i < subjects.size(); ++i) subjects[i].counters = &isolated.workload(i).counters();
}

// Calls that are measured in turns draw the same inputs.
Status make_fresh(const BenchOptions& options, IsolatedCalls& isolated, ColdCalls* cold,
                  std::vector<Subject>& subjects) {
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    std::function<void()> cool;
    if (cold != nullptr) cool = [cold, i] { cold->empty_caches(i); };
    subjects[i].fresh = std::make_unique<FreshCall>(isolated, i, subjects[i].call, subjects[i].others, options.poison,
                                                    options.poison_rtol, std::move(cool));
    FERRY_TRY(subjects[i].fresh->prepare());
    subjects[i].fresh->take(std::move(subjects[i].witnesses), std::move(subjects[i].checks), subjects.size() > 1,
                            options.repeat);
  }
  return {};
}

Status other_witnesses() {
  return {ErrorCode::invalid_argument, "measure: expected at most 64 witnesses and checks, of the calls' sizes"};
}

// Finds the timed calls and their first witnesses, which follow them.
Status find_calls(SessionState& state, RequestContext& context, const rpc::Evaluate& request,
                  std::vector<Subject>& subjects) {
  for (std::size_t i = 0; i < request.calls.size(); ++i) {
    const bool is_witness = i >= subjects.size();
    Subject& subject = subjects[is_witness ? i - subjects.size() : i];
    FERRY_ASSIGN(CheckedCall call, check_call(state, context, request.calls[i]));
    if (!is_witness) {
      subject.call = std::move(call);
      continue;
    }
    if (call.module != subject.call.module || call.function != subject.call.function ||
        call.bound.tensor_bytes != subject.call.bound.tensor_bytes)
      return other_witnesses();
    subject.witnesses.emplace_back().arguments = std::move(call.arguments);
  }
  return {};
}

// Finds further witnesses or checks: one of each call, then the next one of each. They are calls like the timed ones
// with these buffers in place of those of tensors that are no constants.
Status find_beside(SessionState& state, RequestContext& context, std::span<const std::uint64_t> buffers,
                   std::vector<Subject>& subjects, std::vector<FreshCall::Beside> Subject::* beside) {
  for (std::size_t found = 0; !buffers.empty(); ++found) {
    Subject& subject = subjects[found % subjects.size()];
    const CheckedCall& call = subject.call;
    if ((subject.*beside).size() == kMostBeside) return other_witnesses();
    std::vector<DeviceArgument>& arguments = (subject.*beside).emplace_back().arguments;
    arguments = call.arguments;
    for (std::size_t p = 0; p < arguments.size(); ++p) {
      if (arguments[p].is_scalar || call.info().parameters[p].is_constant) continue;
      if (buffers.empty()) return other_witnesses();
      FERRY_ASSIGN(const Buffer* const buffer, state.buffers.find(context, buffers.front()));
      FERRY_TRY(buffer->check_range(buffers.front(), 0, call.bound.tensor_bytes[p]));
      // Null for empty tensors, and in memory of a device's own, where calls have no inputs of their own.
      arguments[p].memory = buffer->host_address();
      buffers = buffers.subspan(1);
    }
  }
  return {};
}

// Finds the checks of other sizes: one of each call, then the next one of each. They are calls like the timed ones with
// these numbers, and these buffers and shapes, in place of those of parameters that are no constants.
Status find_others(SessionState& state, RequestContext& context, const rpc::Evaluate& request,
                   std::vector<Subject>& subjects) {
  std::span<const std::uint64_t> words = request.options.check_calls;
  for (std::size_t found = 0; !words.empty(); ++found) {
    Subject& subject = subjects[found % subjects.size()];
    if (subject.checks.size() == kMostBeside) return other_witnesses();
    rpc::Call call = request.calls[found % subjects.size()];
    for (std::size_t p = 0; p < call.arguments.size(); ++p) {
      rpc::Argument& argument = call.arguments[p];
      if (subject.call.info().parameters[p].is_constant) continue;
      if (words.size() <= argument.shape.size()) return other_witnesses();
      (argument.is_scalar ? argument.scalar_bits : argument.buffer) = words.front();
      argument.offset = 0;
      std::ranges::copy(words.subspan(1, argument.shape.size()), argument.shape.begin());
      words = words.subspan(1 + argument.shape.size());
    }
    FERRY_ASSIGN(CheckedCall checked, check_call(state, context, call));
    subject.others.push_back({std::move(checked.bound), checked.arguments});
    subject.checks.push_back({std::move(checked.arguments), subject.others.size()});
  }
  return {};
}

Workload* workload_of(const Subject& subject, IsolatedCalls& isolated, std::size_t call) {
  if (subject.fresh != nullptr) return subject.fresh.get();
  return isolated.exist() ? &isolated.workload(call) : subject.workload.get();
}

}  // namespace

Result<Evaluation> handle_evaluate(SessionState& state, RequestContext& context, const rpc::Evaluate& request) {
  const std::vector<rpc::Call>& calls = request.calls;
  const BenchOptions& options = request.options;
  FERRY_TRY(check_request(calls.size(), options));
  if (options.witnesses != 0 && options.witnesses * 2 != calls.size()) return other_witnesses();
  std::vector<Subject> subjects(calls.size() - options.witnesses);
  FERRY_TRY(find_calls(state, context, request, subjects));
  FERRY_TRY(find_beside(state, context, options.witness_buffers, subjects, &Subject::witnesses));
  FERRY_TRY(find_beside(state, context, options.check_buffers, subjects, &Subject::checks));
  FERRY_TRY(find_others(state, context, request, subjects));
  Evaluation reply;
  CallThreads threads(state);
  FERRY_TRY(threads.choose(options.cores, options.threads));
  reply.environment.threads = threads.number();
  IsolatedCalls isolated(state);
  isolate(options, subjects, threads.number(), state.access.isolation.has_run_code, isolated, reply.environment);
  for (Subject& subject : subjects) {
    if (isolated.exist()) continue;
    state.access.isolation.has_run_code = true;
    FERRY_ASSIGN(subject.workload, prepare_call(subject.call));
  }
  std::optional<ColdCalls> cold;
  if (options.cold) {
    cold.emplace(state.facts);
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      const CheckedCall& call = subjects[i].call;
      FERRY_TRY(isolated.exist() ? cold->add(call, isolated.persistent(i)) : cold->add(call, call.kept().persistent));
    }
    reply.environment.wiped_bytes = cold->wiped_bytes();
  }
  std::optional<FreshOutputs> fresh;
  const bool has_fresh_inputs = isolated.have_twins();
  if (has_fresh_inputs) {
    FERRY_TRY(make_fresh(options, isolated, cold ? &*cold : nullptr, subjects));
    reply.environment.fresh_inputs =
        std::ranges::any_of(subjects, [](const Subject& subject) { return subject.fresh->has_fresh_inputs(); });
  } else if (options.poison.exists()) {
    fresh.emplace(options.poison, options.poison_rtol);
    for (std::size_t i = 0; i < subjects.size(); ++i) FERRY_TRY(fresh->add(i, subjects[i].call));
  }
  std::vector<Workload*> workloads;
  for (std::size_t i = 0; i < subjects.size(); ++i) workloads.push_back(workload_of(subjects[i], isolated, i));
  Hooks hooks(state.access, context, options.watch, subjects, fresh ? &*fresh : nullptr,
              cold && !has_fresh_inputs ? &*cold : nullptr, reply);
  hooks.open_counters();
  const Result<Failure> failure = [&] {
    const KernelRunning running(context, subjects.front().call.info().name);
    auto ended = measure(options, workloads, hooks, reply);
    for (std::size_t i = 0; has_fresh_inputs && i < subjects.size(); ++i) {
      if (!ended.status().is_ok() || ended.value().result != 0) break;
      ended.value() = {subjects[i].fresh->finish_checks(), i};
      if (ended.value().result == 0) ended.value() = {subjects[i].fresh->call_alone(reply.calls[i].alone_s), i};
      if (ended.value().result == 0) ended.value() = {subjects[i].fresh->run_as_named(), i};
    }
    isolated.end_like_runner(context.activity());
    return ended;
  }();
  context.log(subjects.front().call.module->take_printed() + isolated.take_printed());
  FERRY_TRY(failure.status());
  const Subject& failed = subjects[failure.value().workload];
  FERRY_TRY(device_status(context, failed.call.info(), *workloads[failure.value().workload]));
  FERRY_TRY(result_status(failed.call.info(), failure.value().result));
  for (const Subject& subject : subjects) FERRY_TRY(check_damage(subject.call));
  if (fresh) FERRY_TRY(fresh->status());
  for (const Subject& subject : subjects)
    if (subject.fresh != nullptr) FERRY_TRY(subject.fresh->status());
  FERRY_TRY(isolated.check_processor_time());
  isolated.copy_out();
  hooks.finish();
  // The buffers of further witnesses and of checks need no mark: what fails is the client's to ignore.
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (i < subjects.size() || reply.calls[i - subjects.size()].witnessed)
      mark_outputs_written(state, calls[i], subjects[i % subjects.size()].call);
  return reply;
}

}  // namespace ferry::device
