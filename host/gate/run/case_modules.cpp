#include "host/gate/run/case_modules.h"

#include <chrono>
#include <thread>
#include <utility>

#include "host/gate/run/current_limits.h"
#include "host/gate/run/inputs_text.h"
#include "host/gate/run/stored_module.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/emulated.h"
#include "host/lang/whole_reads.h"
#include "host/measure/code_layout.h"

namespace ferry::gate {
namespace {

// After this time a change of a file has another time.
constexpr std::chrono::milliseconds kClockOfFiles{100};

}  // namespace

void CaseModules::resolve() {
  {
    const std::lock_guard lock(context_.shared);
    read();
  }
  devices_ = devices_for(case_.target, *source_);
  const BoardFacts& board = board_.facts(devices_);  // without the lock, since a farm may let it wait
  const std::lock_guard lock(context_.shared);
  target_ = target_for(board.facts, case_.target, *source_, observer_);
  outcome_.target = target_.text;
  is_emulated_ = ferry::is_emulated(board.facts);
  result_.environment = board.environment;
  std::optional<SourceIdentity> identity = identify();
  if (!identity) {
    // A network that was written a moment ago could be written again without another time of change.
    std::this_thread::sleep_for(kClockOfFiles);
    read();
    identity = identify();
  }
  if (!identity) throw UsageError(source_->name + " changes while it is read");
  identity_ = std::move(*identity);
}

void CaseModules::read() {
  source_ = read_kernel(&context_.compiler, case_.kernel, observer_);
  if (case_.records.empty()) return;
  if (!context_.tuned)
    throw UsageError("cases." + case_.name + ".records: expected none, because this ferry does not tune");
  source_->tuned = context_.tuned(case_.records, case_.sampling.bench.threads);
}

std::optional<SourceIdentity> CaseModules::identify() const {
  return source_identity(*source_, case_.kernel.function, target_, case_.call, observer_);
}

// A case that was renamed has the baseline of its earlier name until it has one of its own.
const StoredModule* CaseModules::find_baseline() {
  const auto own = context_.baseline.find({case_.name, outcome_.target});
  if (own != context_.baseline.end()) return &own->second;
  if (case_.was.empty()) return nullptr;
  const auto earlier = context_.baseline.find({case_.was, outcome_.target});
  outcome_.is_renamed = earlier != context_.baseline.end();
  return outcome_.is_renamed ? &earlier->second : nullptr;
}

void CaseModules::compile() {
  const std::lock_guard lock(context_.shared);
  if (!identity_.module)
    identity_.module =
        compile_kernel(*source_, case_.kernel.function, target_, case_.call, observer_, CodeForm::relinkable).module;
  CompiledModule module = *std::exchange(identity_.module, std::nullopt);
  const StepGuard step = observer_.begin("storing the module of " + case_.name);
  StoredModule stored = store_module(context_.store, module, identity_.hash, context_.label);
  current_.emplace(plan_side(std::move(module), case_));
  if (has_definition(*source_)) current_->whole_reads = lang::whole_reads(program_of(*source_, current_->info.name));
  result_.inputs = inputs_text(current_->info, current_->plan, case_.call);
  describe(Side::current, stored, current_->module);
  outcome_.module = std::move(stored);
}

bool CaseModules::find_unchanged(const StoredModule& stored) {
  const std::lock_guard lock(context_.shared);
  try {
    const std::optional<CompiledModule> module = load_module(context_.store, stored);
    if (!module) return false;
    // Inputs may be mistaken that the identity does not know of.
    const MeasuredSide side = plan_side(*module, case_);
    result_.inputs = inputs_text(side.info, side.plan, case_.call);
    describe(Side::baseline, stored, *module);
    describe(Side::current, stored, *module);
    result_.sides[Side::current].label = context_.label;
  } catch (const StoreFailed&) {
    throw;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    return false;  // damaged
  }
  outcome_.module = stored;
  return true;
}

std::optional<std::string> CaseModules::load_baseline(const StoredModule& stored) {
  const std::lock_guard lock(context_.shared);
  const StepGuard step = observer_.begin("reading the baseline's module of " + case_.name);
  try {
    baseline_module_ = load_module(context_.store, stored);
    if (!baseline_module_) return "the store has lost the baseline's module " + to_hex(stored.module);
    describe(Side::baseline, stored, *baseline_module_);
    bench::module_in_layout(&context_.compiler, *baseline_module_, 0);  // shows damage that its hash does not
    return std::nullopt;
  } catch (const StoreFailed&) {
    throw;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    return error.what();
  }
}

bool CaseModules::is_same_code() const {
  const std::lock_guard lock(context_.shared);
  return context_.compiler.code_identity(baseline_module_->bytes()) ==
         context_.compiler.code_identity(current_->module.bytes());
}

void CaseModules::expect_trust(const StoredModule& stored) {
  const std::lock_guard lock(context_.shared);
  const std::string holder = context_.store.holder_of(stored);
  result_.sides[Side::baseline].holder = holder;
  if (!holder.empty() && board_.is_here() && context_.trust)
    context_.trust(holder, "the baseline's module of " + case_.name);
}

PerSide<MeasuredSide> CaseModules::plan_sides(verify::ParameterPairs& pairs) {
  MeasuredSide planned = plan_same_side(std::move(*baseline_module_), case_, *current_, pairs);
  return {std::move(planned), *current_};
}

void CaseModules::describe(Side side, const StoredModule& stored, const CompiledModule& module) {
  const ModuleBytes bytes = bytes_of(module);
  result_.sides[side] = {stored.module, stored.label, bytes.code, bytes.data, 0};
}

}  // namespace ferry::gate
