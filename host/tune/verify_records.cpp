#include "host/tune/verify_records.h"

#include "base/throw_status.h"
#include "base/unix_time.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "host/kernel/compile_kernel.h"
#include "host/measure/compare.h"
#include "host/tune/recorded_schedules.h"
#include "host/tune/records/record_file.h"
#include "host/tune/records/record_set.h"
#include "host/tune/replay.h"
#include "host/tune/task/device_key.h"
#include "host/tune/task/program_hash.h"
#include "host/tune/trial_records.h"
#include "host/tune/tuned_task.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ferry::tune {

namespace {

class Verifier {
 public:
  Verifier(const bench::NamedDevice& device, const TunedKernel& kernel, const VerifyOptions& options,
           const Observer& observer)
      : device_(device),
        kernel_(kernel),
        options_(options),
        observer_(observer),
        compiler_(*kernel.source.compiler),
        target_(target_of_device()) {}

  std::vector<VerifiedTask> run() {
    const RecordFile file = value_or_throw(read_records(options_.records));
    std::vector<VerifiedTask> all;
    for (const TuneRecord& record : best_records(file.records)) {
      if (observer_.must_end()) break;
      if (!record.confirmed || record.key.device != device_key(target_, options_.threads)) continue;
      const std::optional<TunedTask> task = find_task(record);
      if (!task) continue;
      all.push_back(settle(record, *task));
      if (options_.on_task) options_.on_task(all.back());
    }
    return all;
  }

 private:
  Target target_of_device() const {
    ConnectOptions connection;
    connection.devices = devices_for(kernel_.target, kernel_.source);
    return target_for(device_.open(connection), kernel_.target, kernel_.source, observer_);
  }

  // Returns the task that the record is of, if one of the kernel's functions has sizes of these names, and is the same
  // program with them.
  std::optional<TunedTask> find_task(const TuneRecord& record) const {
    for (const lang::Program& program : kernel_.source.as_text()->programs) {
      if (!kernel_.function.empty() && program.name != kernel_.function) continue;
      std::optional<TunedTask> task = task_with(program, record);
      if (task && task->key == record.key) return task;
    }
    return std::nullopt;
  }

  std::optional<TunedTask> task_with(const lang::Program& program, const TuneRecord& record) const {
    std::set<std::string> symbols;
    for (const lang::Expr& symbol : lang::symbols_of(program)) symbols.insert(symbol.as<ir::Var>()->name);
    SizesByName fixed;
    TuneOptions options;
    options.open_sizes = true;
    options.threads = options_.threads;
    for (const auto& [name, size] : record.sizes) {
      const bool is_fixed = std::ranges::find(record.fixed, name) != record.fixed.end();
      const bool is_symbol = symbols.erase(name) > 0;
      if (!is_symbol && !kernel_.source.as_text()->fixed.contains(name)) return std::nullopt;
      if (is_fixed && is_symbol) fixed.emplace(name, size);
      if (!is_fixed) options.call.sizes.push_back(name + "=" + std::to_string(size));
    }
    if (!symbols.empty()) return std::nullopt;
    try {
      return task_of({with_fixed_sizes(kernel_.source, fixed), program.name, kernel_.target}, target_, options);
    } catch (const CompileError&) {
      return std::nullopt;
    }
  }

  VerifiedTask settle(const TuneRecord& record, const TunedTask& task) const {
    const std::string version = version_of(compiler_, target_);
    if (record.version == version) return {Verdict::current, record};
    // Only the network knows the program with this algorithm.
    if (!record.algorithm.empty()) return {Verdict::in_network, record};
    const TextKernel& text = *task.source.as_text();
    const ReplayedTask now{compiler_, choose_program(task.source, task.function), task.open_sizes, target_,
                           text.schedule ? &*text.schedule : nullptr};
    const std::optional<TuneRecord> renewed = replayed(record, now);
    const std::optional<SpacePoint> point = renewed ? task.space_at(renewed->values) : std::nullopt;
    if (!point) return {Verdict::gone, record};
    const TrialRecords records(task, version, options_.records, compiler_.code_identity(task.compile({})));
    Tried tried{.point = *point, .trial = {}, .device = device_.name};
    tried.code = compiler_.code_identity(task.compile(renewed->values));
    if (tried.code == record.code && records.default_code() == record.default_code) {
      TuneRecord same = *renewed;
      same.version = version;
      same.unix_ms = unix_milliseconds();
      records.store(same);
      return {Verdict::same_code, record, same};
    }
    if (!place_of(record).network.empty()) return {Verdict::in_network, record};
    const std::optional<Trial> trial = compare(*renewed, task);
    if (!trial) return {Verdict::not_decided, record};
    tried.trial = *trial;
    TuneRecord again = records.record_of(tried);
    again.confirmed = trial->outcome == Outcome::measured;
    records.store(again);
    return {Verdict::measured, record, again};
  }

  std::optional<Trial> compare(const TuneRecord& record, const TunedTask& task) const {
    const StepGuard step = observer_.begin("comparing the schedule of " + task.function + " with the default");
    bench::CompareOptions compare;
    compare.call = task.call;
    compare.target = kernel_.target;
    compare.processes = options_.processes;
    compare.sampling.bench.cores = options_.cores;
    compare.sampling.bench.threads = options_.threads;
    const bench::KernelPair pair{bench::ComparedKernel{task.at({}), task.function},
                                 bench::ComparedKernel{task.at(record.values), task.function}};
    return trial_of(bench::compare(device_.open, pair, compare, observer_));
  }

  const bench::NamedDevice& device_;
  const TunedKernel& kernel_;
  const VerifyOptions& options_;
  const Observer& observer_;
  const Compiler& compiler_;
  Target target_;
};

}  // namespace

std::string verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::current: return "current";
    case Verdict::same_code: return "same_code";
    case Verdict::measured: return "measured";
    case Verdict::gone: return "gone";
    case Verdict::not_decided: return "not_decided";
    case Verdict::in_network: return "in_network";
  }
  return "";
}

std::vector<VerifiedTask> verify_records(const bench::NamedDevice& device, const TunedKernel& kernel,
                                         const VerifyOptions& options, const Observer& observer) {
  (void)expect_compiler(kernel.source.compiler, "ferry records verify");
  if (kernel.source.as_text() == nullptr)
    throw UsageError(kernel.source.name + ": expected a kernel in ferry's own notation, whose schedules are recorded");
  return Verifier(device, kernel, options, observer).run();
}

}  // namespace ferry::tune
