#include "base/printable.h"
#include "crosscompile/ir/error.h"
#include "host/graph/plan/append_call.h"
#include "host/graph/plan/arena.h"
#include "host/graph/plan/composition.h"
#include "host/graph/plan/index_message.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ferry::graph {
namespace {

ManifestExpr aligned(ManifestExpr bytes, std::uint64_t alignment) {
  const auto unit = static_cast<std::int64_t>(alignment);
  bytes = manifest_apply(ManifestOp::add, {std::move(bytes), manifest_constant(unit - 1)});
  return manifest_apply(
      ManifestOp::mul,
      {manifest_apply(ManifestOp::floordiv, {std::move(bytes), manifest_constant(unit)}), manifest_constant(unit)});
}

class Composer {
 public:
  explicit Composer(const Composition& composition)
      : composition_(composition), values_(function_.plan, guesses()), init_values_(function_.init, guesses()) {}

  FunctionInfo run() {
    function_.name = composition_.name;
    function_.symbols = composition_.symbols;
    function_.parameters = composition_.parameters;
    function_.preconditions = composition_.preconditions;
    places_.resize(composition_.storages.size());
    for (std::uint32_t s = 0; s < places_.size(); ++s) {
      const Storage& storage = composition_.storages[whole_of(composition_.storages, s)];
      places_[s].operand = {operand_kind(storage.kind), storage.index, kNoValue};
    }
    for (std::size_t step = 0; step < composition_.steps.size(); ++step)
      std::visit([&](const auto& one) { prepare(one, step); }, composition_.steps[step]);
    extend_over_loops();
    lay_out_arenas();
    for (const auto& step : composition_.steps) std::visit([&](const auto& one) { append(one); }, step);
    add_flops();
    return std::move(function_);
  }

 private:
  std::vector<std::int64_t> guesses() const {
    std::vector<std::int64_t> values;
    for (const std::string& symbol : composition_.symbols) {
      const auto guess = composition_.guesses.find(symbol);
      values.push_back(guess == composition_.guesses.end() ? 1 : guess->second);
    }
    return values;
  }

  static OperandKind operand_kind(Storage::Kind kind) {
    switch (kind) {
      case Storage::Kind::argument: return OperandKind::argument;
      case Storage::Kind::constant: return OperandKind::constant;
      case Storage::Kind::arena: return OperandKind::workspace;
      case Storage::Kind::part: break;
    }
    throw InternalError("operand_kind: unknown kind");
  }

  // Takes note that a storage is needed during a step.
  void use(std::uint32_t storage, std::size_t step) {
    storage = whole_of(composition_.storages, storage);
    Place& place = places_.at(storage);
    const Storage& memory = composition_.storages[storage];
    if (memory.kind != Storage::Kind::arena) return;
    if (place.block == kNoBlock)
      place.block = add_block(memory.device, values_.add(aligned(memory.bytes, composition_.alignment)), step);
    blocks_[place.block].last_step = step;
  }

  std::size_t add_block(std::uint32_t device, ValueIndex bytes, std::size_t step) {
    const std::int64_t guess = values_.guess(bytes);
    blocks_.push_back({static_cast<std::uint64_t>(std::max<std::int64_t>(guess, 0)), step, step});
    block_bytes_.push_back(bytes);
    block_devices_.push_back(device);
    return blocks_.size() - 1;
  }

  void prepare(const StorageCopy& copy, std::size_t step) {
    use(copy.to, step);
    if (copy.from != kNoStorage) use(copy.from, step);
  }

  void prepare(const BeginLoop& loop, std::size_t step) {
    if (loop.condition != kNoStorage) use(loop.condition, step);
    open_loops_.push_back(step);
    if (!loop.may_be_negative) return;
    add_precondition(manifest_apply(ManifestOp::le, {manifest_constant(0), loop.count}),
                     printable(loop.name.substr(0, kMaxNameBytes)) + ": the number of iterations, " +
                         to_text(loop.count, composition_.symbols) + ", must be at least 0");
  }
  void prepare(const EndLoop&, std::size_t step) {
    loops_.push_back({open_loops_.back(), step});
    open_loops_.pop_back();
  }

  // What lives longer than an iteration is needed during all of them.
  void extend_over_loops() {
    for (const auto& [begin, end] : loops_) {
      for (ArenaBlock& block : blocks_) {
        if (block.first_step < begin && block.last_step >= begin) block.last_step = std::max(block.last_step, end);
        if (block.first_step > begin && block.first_step < end && block.last_step > end) block.first_step = begin;
      }
    }
  }

  void prepare(const KernelCall& call, std::size_t step) {
    for (const std::uint32_t storage : call.storages) use(storage, step);
    const Plan& plan = call.kernel->plan;
    AppendedCall appended;
    for (const std::string& symbol : call.kernel->symbols)
      appended.values.push_back(values_.add(call.sizes.at(symbol)));
    for (const ManifestExpr& value : plan.values) appended.values.push_back(values_.add(value, appended.values));
    for (std::size_t w = 0; w < plan.workspaces.size(); ++w) {
      const ValueIndex bytes = appended.value(plan.workspaces[w].bytes);
      const ManifestExpr given = bytes == kNoValue ? manifest_constant(0) : manifest_symbol(bytes);
      appended.blocks.push_back(
          add_block(plan.workspaces[w].device, values_.add(aligned(given, composition_.alignment)), step));
      if (keeps_result(plan, w)) blocks_.back().last_step = composition_.steps.size() - 1;
    }
    for (const ParameterInfo& parameter : call.kernel->parameters)
      if (parameter.kind == ParameterKind::scalar)
        appended.scalars.push_back(values_.add(call.sizes.at(parameter.name)));
    calls_.push_back(std::move(appended));
    add_preconditions(call);
  }

  void add_preconditions(const KernelCall& call) {
    for (const Precondition& precondition : call.kernel->preconditions)
      add_precondition(of_network(precondition.condition, call), message_of(call, precondition.message));
  }

  void add_precondition(ManifestExpr condition, const std::string& message) {
    const std::optional<std::int64_t> constant = constant_of(condition);
    if (constant == 0) throw CompileError(message);
    const bool is_known = constant || std::ranges::any_of(function_.preconditions, [&](const Precondition& known) {
                            return known.condition == condition;
                          });
    if (is_known) return;
    function_.preconditions.push_back({std::move(condition), message});
    if (function_.preconditions.size() > kMaxPreconditions)
      throw CompileError(composition_.name + ": expected at most " + std::to_string(kMaxPreconditions) +
                         " conditions on the sizes of its inputs, got more");
  }

  // Returns the message with the names of the node and of its sizes in the network.
  std::string message_of(const KernelCall& call, const std::string& message) const {
    std::string text = printable(call.node.substr(0, kMaxNameBytes)) + ": " + message, sizes;
    for (const auto& [symbol, value] : call.sizes)
      if (message.starts_with(symbol + " "))
        sizes += (sizes.empty() ? ", where " : " and ") + symbol + " is " + to_text(value, composition_.symbols);
    return text + sizes;
  }

  // Lays out an arena for each device that has blocks.
  void lay_out_arenas() {
    offsets_.resize(blocks_.size());
    std::vector<std::uint32_t> devices = block_devices_;
    std::ranges::sort(devices);
    devices.erase(std::ranges::unique(devices).begin(), devices.end());
    for (const std::uint32_t device : devices) {
      std::vector<std::size_t> members;
      for (std::size_t b = 0; b < blocks_.size(); ++b)
        if (block_devices_[b] == device) members.push_back(b);
      lay_out_arena(device, members);
    }
    for (Place& place : places_) {
      if (place.block == kNoBlock) continue;
      place.operand.index = offsets_[place.block].workspace;
      place.operand.offset = offsets_[place.block].offset;
    }
  }

  void lay_out_arena(std::uint32_t device, const std::vector<std::size_t>& members) {
    const auto workspace = static_cast<std::uint32_t>(function_.plan.workspaces.size());
    std::vector<ArenaBlock> blocks;
    for (const std::size_t member : members) blocks.push_back(blocks_[member]);
    const std::vector<ArenaPlace> places = place_blocks(blocks);
    std::vector<std::size_t> order(blocks.size());
    for (std::size_t b = 0; b < order.size(); ++b) order[b] = b;
    // A block comes after those below it.
    std::ranges::stable_sort(order, {}, [&](std::size_t b) { return places[b].rank; });
    std::vector<ValueIndex> ends(blocks.size(), kNoValue);
    ValueIndex all = values_.constant(0);
    const bool is_fixed = std::ranges::all_of(
        members, [&](std::size_t member) { return values_.constant_of(block_bytes_[member]).has_value(); });
    for (const std::size_t b : order) {
      ValueIndex offset =
          is_fixed ? values_.constant(static_cast<std::int64_t>(places[b].offset)) : values_.constant(0);
      if (!is_fixed)
        for (const std::size_t below : places[b].below) offset = values_.add(ManifestOp::max, offset, ends[below]);
      offsets_[members[b]] = {workspace, values_.as_offset(offset)};
      ends[b] = values_.add(ManifestOp::add, offset, block_bytes_[members[b]]);
      all = values_.add(ManifestOp::max, all, ends[b]);
    }
    function_.plan.workspaces.push_back({device, all});
  }

  // A loop, and the value by which an offset grows there.
  using Growth = std::vector<std::pair<std::uint32_t, ValueIndex>>;

  // Returns where a storage is in the first iterations of the loops around.
  Operand first_operand_of(std::uint32_t storage, Growth& growth) {
    if (composition_.storages[storage].kind != Storage::Kind::part) return places_[storage].operand;
    const Storage& part = composition_.storages[storage];
    Operand operand = first_operand_of(part.index, growth);
    operand.offset = values_.as_offset(values_.add(ManifestOp::add, operand.offset, values_.add(part.offset)));
    if (part.loop != Storage::kNoMove) growth.emplace_back(part.loop, values_.add(part.stride));
    return operand;
  }

  Operand operand_of(std::uint32_t storage) {
    Growth growth;
    Operand operand = first_operand_of(storage, growth);
    if (growth.empty()) return operand;
    std::ranges::sort(growth);
    const auto [known, is_new] = loop_values_.try_emplace({operand.offset, growth}, kNoValue);
    if (is_new) {
      known->second = values_.add_loop_value(operand.offset);
      for (const auto& [loop, stride] : growth) growing_[loop].push_back({known->second, stride});
    }
    operand.offset = known->second;
    return operand;
  }

  void append(const StorageCopy& copy) {
    if (copy.from == kNoStorage)
      function_.plan.steps.push_back(FillStep{operand_of(copy.to), values_.add(copy.bytes), 1, 0});
    else
      function_.plan.steps.push_back(CopyStep{operand_of(copy.to), operand_of(copy.from), values_.add(copy.bytes)});
  }

  void append(const BeginLoop& loop) {
    open_loops_.push_back(function_.plan.steps.size());
    if (open_loops_.size() > kMaxRepeatDepth)
      throw CompileError(printable(loop.name) + ": expected at most " + std::to_string(kMaxRepeatDepth) +
                         " loops inside of each other, got more");
    RepeatStep repeat{values_.add(loop.count), 0, {}};
    if (loop.condition != kNoStorage) repeat.condition = operand_of(loop.condition);
    function_.plan.steps.emplace_back(std::move(repeat));
  }

  void append(const EndLoop& loop) {
    const std::size_t begin = open_loops_.back(), steps = function_.plan.steps.size() - begin - 1;
    open_loops_.pop_back();
    auto& repeat = std::get<RepeatStep>(function_.plan.steps[begin]);
    repeat.steps = static_cast<std::uint32_t>(steps);
    repeat.values = std::move(growing_[loop.loop]);
    if (repeat.values.size() > kMaxLoopValues)
      throw CompileError(composition_.name + ": expected at most " + std::to_string(kMaxLoopValues) +
                         " tensors that a loop reads or writes by entries, got more");
  }

  void append(const KernelCall& call) {
    AppendedCall& appended = calls_[next_call_++];
    for (const std::uint32_t storage : call.storages) appended.tensors.push_back(operand_of(storage));
    for (const std::size_t block : appended.blocks) appended.workspaces.push_back(offsets_[block]);
    std::vector<std::string> messages;
    for (const std::string& message : call.kernel->messages)
      messages.push_back(message_of(call, in_words_of_network(message, call.tensors)));
    append_call(*call.kernel, appended, messages, function_, values_, init_values_);
    if (function_.messages.size() > kMaxMessages)
      throw CompileError(composition_.name + ": expected at most " + std::to_string(kMaxMessages) +
                         " messages of its kernels, got more");
  }

  ManifestExpr product(const ManifestExpr& a, const ManifestExpr& b) const {
    return substitute(manifest_apply(ManifestOp::mul, {a, b}), manifest_symbol, composition_.name);
  }

  // The sum has one term for each different expression, and so stays short. If it is too long all the same, the number
  // stays unknown. What may end early counts once.
  void add_flops() {
    std::vector<ManifestTerm> sum;
    std::vector<ManifestExpr> counts;  // iterations of all loops around together
    for (const auto& step : composition_.steps) {
      if (const auto* loop = std::get_if<BeginLoop>(&step)) {
        const ManifestExpr count = loop->condition == kNoStorage ? loop->count : manifest_constant(1);
        if (!counts.empty() && counts.back().code.size() + count.code.size() >= kMaxManifestInstructions) return;
        counts.push_back(counts.empty() ? count : product(counts.back(), count));
      }
      if (std::holds_alternative<EndLoop>(step)) counts.pop_back();
      const auto* call = std::get_if<KernelCall>(&step);
      if (call == nullptr || call->kernel->flops.code.empty()) continue;
      ManifestExpr all = of_network(call->kernel->flops, *call);
      if (!counts.empty()) {
        if (all.code.size() + counts.back().code.size() >= kMaxManifestInstructions) return;
        all = product(all, counts.back());
      }
      for (ManifestTerm& term : terms_of(all)) {
        const auto known = std::ranges::find(sum, term.expr, &ManifestTerm::expr);
        if (known == sum.end())
          sum.push_back(std::move(term));
        else if (__builtin_add_overflow(known->factor, term.factor, &known->factor))
          return;
      }
    }
    ManifestExpr flops = manifest_constant(0);
    for (const auto& [expr, factor] : sum) {
      ManifestExpr term = manifest_constant(factor);
      if (!expr.code.empty()) term = manifest_apply(ManifestOp::mul, {expr, std::move(term)});
      flops = manifest_apply(ManifestOp::add, {std::move(flops), std::move(term)});
    }
    if (flops.code.size() <= kMaxManifestInstructions) function_.flops = std::move(flops);
  }

  static constexpr std::size_t kNoBlock = SIZE_MAX;
  struct Place {
    Operand operand;
    std::size_t block = kNoBlock;
  };

  const Composition& composition_;
  FunctionInfo function_;
  PlanValues values_, init_values_;
  std::vector<Place> places_;        // where each storage is
  std::vector<AppendedCall> calls_;  // in the order of the steps that are calls
  std::size_t next_call_ = 0;
  std::vector<std::size_t> open_loops_;                     // first steps of the loops around
  std::vector<std::pair<std::size_t, std::size_t>> loops_;  // first and last steps, inner ones first
  std::map<std::pair<ValueIndex, Growth>, ValueIndex> loop_values_;
  std::map<std::uint32_t, std::vector<LoopValue>> growing_;  // by loop
  std::vector<ArenaBlock> blocks_;
  std::vector<ValueIndex> block_bytes_;
  std::vector<std::uint32_t> block_devices_;
  std::vector<WorkspacePlace> offsets_;  // where each block begins
};

}  // namespace

ManifestExpr of_network(const ManifestExpr& expr, const KernelCall& call) {
  const auto size_of = [&](std::uint32_t symbol) {
    return substitute(call.sizes.at(call.kernel->symbols[symbol]), manifest_symbol, call.node);
  };
  return substitute(expr, size_of, call.node);
}

FunctionInfo compose(const Composition& composition) { return Composer(composition).run(); }

}  // namespace ferry::graph
