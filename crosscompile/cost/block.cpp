#include "crosscompile/cost/block.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/cost/access.h"
#include "crosscompile/cost/depends.h"
#include "crosscompile/ir/prefetch.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/uses.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace ferry::cost {

using ir::BinaryOp;
using ir::Expr;

namespace {

// Instructions of the expansions of math functions for float32 (crosscompile/passes/lower_math), about.
constexpr double kMathMultiplyAdds = 8, kMathOthers = 4;
constexpr double kLine = 64;  // bytes
constexpr double kLoopInstructions = 2, kInstructionsPerStream = 0.5;

// Whether it is arithmetic on indices alone, or a condition on them: cheap, and mostly outside of the innermost loops.
bool is_address(const Expr& expr) {
  return !expr.type().is_float() &&
         !ir::contains(expr, {ir::ExprKind::Load, ir::ExprKind::Call, ir::ExprKind::FloatImm});
}

class Count {
 public:
  Count(const FunctionNest& function, std::span<const LoopNest* const> path, const BufferUses& uses,
        const Target& target, const Core& core)
      : function_(function), path_(path), uses_(uses), target_(target), core_(core) {}

  Block run() {
    for (const Step& step : path_.back()->steps) add(step);
    block_.registers = accumulators_ + invariants_ + operands_;
    add_spills();
    const bool is_loop = path_.back()->var != nullptr;
    if (is_loop && !path_.back()->steps.empty())
      block_.counts[index(Instruction::scalar_int)] += kLoopInstructions + kInstructionsPerStream * streams_;
    std::array<double, kUnits> units = {};
    for (std::size_t i = 0; i < kInstructions; ++i) {
      const auto instruction = static_cast<Instruction>(i);
      units[static_cast<std::size_t>(core_.unit(instruction))] += block_.counts[i] * core_.price(instruction).cycles;
      block_.instructions += block_.counts[i];
    }
    block_.cycles = std::max(*std::ranges::max_element(units), block_.instructions / core_.width);
    return block_;
  }

 private:
  static std::size_t index(Instruction instruction) { return static_cast<std::size_t>(instruction); }

  void emit(Instruction instruction, double count) { block_.counts[index(instruction)] += count; }
  // Emits it for each copy and vector of a value with elements of so many bytes.
  void emit_value(Instruction instruction, const Depends& depends, double bytes, double times = 1) {
    emit(instruction, times * place_->copies(depends) * place_->vectors(depends, bytes) * place_->hoisted(depends) *
                          place_->runs(depends, bytes));
  }
  Depends value(const Expr& expr) {
    if (expr.as<ir::IntImm>() != nullptr || expr.as<ir::FloatImm>() != nullptr) return {};
    if (expr.as<ir::Var>() != nullptr) {
      const auto let = lets_.find(expr.get());
      return let != lets_.end() ? let->second : place_->depends_of(linear_index(expr, function_.variables));
    }
    if (is_address(expr)) return place_->depends_of(linear_index(expr, function_.variables));
    if (const auto* load = expr.as<ir::Load>()) return loaded(*load);
    if (const auto* binary = expr.as<ir::Binary>()) return computed(*binary);
    const double bytes = static_cast<double>(dtype_bytes(expr.type().code));
    if (const auto* cast = expr.as<ir::Cast>()) {
      const Depends depends = value(cast->value);
      if (!is_address(cast->value)) emit_value(Instruction::convert, depends, bytes);
      return depends;
    }
    if (const auto* unary = expr.as<ir::Unary>()) {
      const Depends depends = value(unary->value);
      emit_value(Instruction::int_add, depends, bytes);
      return depends;
    }
    if (const auto* select = expr.as<ir::Select>())
      return chosen(select->condition, select->on_true, select->on_false, bytes);
    if (const auto* choice = expr.as<ir::IfThenElse>())
      return chosen(choice->condition, choice->on_true, choice->on_false, bytes);
    if (const auto* let = expr.as<ir::Let>()) {
      lets_[let->var.get()] = value(let->value);
      return value(let->body);
    }
    if (const auto* call = expr.as<ir::Call>()) return called(*call, bytes);
    return {};
  }

  // Where loops are split at the ends of a condition on indices, one side is left of it nearly everywhere.
  Depends chosen(const Expr& condition, const Expr& on_true, const Expr& on_false, double bytes) {
    if (is_address(condition)) return value(on_true);
    const Depends values = value(on_true) | value(on_false);
    const Depends depends = value(condition) | values;
    emit_value(Instruction::min_max, depends, bytes);
    return depends;
  }

  Depends computed(const ir::Binary& node) {
    const ir::Type type = node.left.type();
    const double bytes = static_cast<double>(dtype_bytes(type.code));
    const bool is_sum = node.op == BinaryOp::add || node.op == BinaryOp::sub;
    if (is_sum && (target_.capabilities.fma || !type.is_float())) {
      for (const auto& [product, other] : {std::pair(&node.right, &node.left), std::pair(&node.left, &node.right)}) {
        const auto* factors = product->as<ir::Binary>();
        if (factors == nullptr || factors->op != BinaryOp::mul) continue;
        const Depends left = value(factors->left);
        const Depends right = ir::equal(factors->left, factors->right) ? left : value(factors->right);
        const Depends depends = left | right | value(*other);
        emit_value(type.is_float() ? Instruction::fma : Instruction::int_mul, depends, bytes);
        return depends;
      }
    }
    const bool is_square = node.op == BinaryOp::mul && ir::equal(node.left, node.right);
    const Depends depends = is_square ? value(node.left) : value(node.left) | value(node.right);
    emit_value(instruction_of(node.op, type.is_float()), depends, bytes, times_of(node.op, type.is_float()));
    return depends;
  }

  static Instruction instruction_of(BinaryOp op, bool is_float) {
    if (op == BinaryOp::add || op == BinaryOp::sub) return is_float ? Instruction::add : Instruction::int_add;
    if (op == BinaryOp::mul) return is_float ? Instruction::mul : Instruction::int_mul;
    if (op == BinaryOp::div || op == BinaryOp::mod) return Instruction::div;
    return ir::is_comparison(op) || op == BinaryOp::min || op == BinaryOp::max ? Instruction::min_max
                                                                               : Instruction::int_add;
  }
  // min and max of floats keep NaN, which takes a comparison and a selection more where no instruction does.
  double times_of(BinaryOp op, bool is_float) const {
    const bool is_min_max = op == BinaryOp::min || op == BinaryOp::max;
    return is_min_max && is_float && !target_.capabilities.nan_min_max_f32_vectors ? 3 : 1;
  }

  Depends called(const ir::Call& call, double bytes) {
    Depends depends;
    if (call.callee.op == ir::CallOp::prefetch) {
      emit(Instruction::scalar_load, place_->step().share * place_->copies({~std::uint64_t{0}, 0}));
      return depends;
    }
    for (const Expr& argument : call.arguments) depends = depends | value(argument);
    if (call.callee.op == ir::CallOp::math) {
      switch (call.callee.math) {
        case ir::MathFunction::sqrt:
        case ir::MathFunction::rsqrt: emit_value(Instruction::sqrt, depends, bytes); return depends;
        case ir::MathFunction::abs:
        case ir::MathFunction::floor:
        case ir::MathFunction::ceil:
        case ir::MathFunction::round_even:
        case ir::MathFunction::trunc: emit_value(Instruction::min_max, depends, bytes); return depends;
        case ir::MathFunction::fma: emit_value(Instruction::fma, depends, bytes); return depends;
        default: break;
      }
    }
    emit_value(Instruction::fma, depends, bytes, kMathMultiplyAdds);
    emit_value(Instruction::min_max, depends, bytes, kMathOthers);
    return depends;
  }

  Depends loaded(const ir::Load& load) {
    // An element that occurs twice in a value is loaded once.
    const auto is_same = [&](const auto& one) {
      return one.first->buffer == load.buffer && std::ranges::equal(one.first->indices, load.indices, ir::equal);
    };
    if (const auto same = std::ranges::find_if(loads_, is_same); same != loads_.end()) return same->second;
    const Depends depends = newly_loaded(load);
    loads_.emplace_back(&load, depends);
    return depends;
  }

  Depends newly_loaded(const ir::Load& load) {
    const Access access = access_of(load.buffer.get(), load.indices, place_->step(), function_.variables);
    Depends depends;
    for (std::size_t d = 0; d < access.indices.size(); ++d) {
      depends = depends | place_->depends_of(access.indices[d]);
      if (access.indices[d].reads_memory) depends = depends | value(load.indices[d]);
    }
    if (uses_.in_registers.contains(load.buffer.get())) return depends;
    // Elements that a loop stores cannot be loaded before it.
    for (std::size_t l = 0; l < path_.size(); ++l)
      if (const auto stored = uses_.stored.find(path_[l]);
          stored != uses_.stored.end() && stored->second.contains(load.buffer.get()))
        depends.loops |= depends_bit(l);
    const double bytes = access.element_bytes, count = access.distinct_copies();
    const double times = count * place_->hoisted(depends) * place_->runs(depends, bytes);
    const double vector_count = place_->vectors(depends, bytes);
    double loaded_registers = count;
    if (!place_->is_vector(depends)) {
      emit(place_->has_lanes() ? Instruction::broadcast_load : Instruction::scalar_load, times);
    } else {
      loaded_registers *= vector_count;
      emit_vectors(access, times * vector_count, Instruction::load);
    }
    if (place_->is_invariant(depends))
      invariants_ += loaded_registers;
    else
      operand_loads_.push_back(loaded_registers);
    if (place_->hoisted(depends) == 1) ++streams_;
    return depends;
  }

  // Emits the loads or stores of so many vectors.
  void emit_vectors(const Access& access, double count, Instruction whole) {
    const double lanes = std::max(1.0, target_.vector_bits / 8 / access.element_bytes);
    const double stride = std::abs(access.lane_stride());
    const Instruction single = whole == Instruction::load ? Instruction::scalar_load : Instruction::store;
    if (stride <= 1) {
      const double bytes = std::min<double>(access.vector_elements() * access.element_bytes, target_.vector_bits / 8);
      const bool is_split = whole == Instruction::load && !access.is_aligned(bytes);
      emit(whole, count * (is_split ? 1 + (core_.split_load - 1) * bytes / kLine : 1));
      if (access.lane_stride() < 0) emit(Instruction::shuffle, count);
    } else if (stride <= 4) {
      emit(whole, count * stride);
      emit(Instruction::shuffle, count * stride);
    } else if (access.is_transposed(lanes)) {
      emit(whole, count);
      emit(Instruction::shuffle, count * std::log2(lanes));
    } else {
      emit(single, count * lanes);
      emit(Instruction::shuffle, count * lanes);
    }
  }

  void add(const Step& step) {
    const StepPlace placed(step, path_, target_);
    place_ = &placed;
    operand_loads_.clear();
    loads_.clear();
    const Depends depends = value(step.value);
    // Operands of a product: all of the smaller ones stay, of the largest one after the other is loaded.
    std::ranges::sort(operand_loads_);
    double operands = 1;
    for (std::size_t i = 0; i + 1 < operand_loads_.size(); ++i) operands += operand_loads_[i];
    operands_ = std::max(operands_, operands);
    if (step.store == nullptr) return;
    const ir::Store& store = *step.store;
    const Access access = access_of(store.buffer.get(), store.indices, step, function_.variables);
    Depends place;
    for (const LinearIndex& linear : access.indices) place = place | place_->depends_of(linear);
    if (analysis::reads(store.value, store.buffer.get()))
      add_chain(store, place, depends);
    else
      started_.insert(store.buffer.get());
    const double bytes = access.element_bytes;
    const double count = place_->copies(place) * place_->vectors(place, bytes);
    if (uses_.in_registers.contains(store.buffer.get())) {
      accumulators_ = std::max(accumulators_, count);
      return;
    }
    const double times = count * place_->runs(place, bytes);
    if (place_->is_vector(place))
      emit_vectors(access, times, Instruction::store);
    else
      emit(Instruction::store, times);
    ++streams_;
  }

  // Adds the chain of a step that updates what it stores.
  void add_chain(const ir::Store& store, const Depends& place, const Depends& depends) {
    const ir::Load* own = nullptr;
    analysis::for_each_load(store.value, [&](const ir::Load& load) {
      if (load.buffer == store.buffer && std::ranges::equal(load.indices, store.indices, ir::equal)) own = &load;
    });
    if (own == nullptr) return;
    double latency = core_.price(Instruction::min_max).latency;
    Instruction instruction = Instruction::min_max;
    if (const auto* binary = store.value.as<ir::Binary>()) {
      instruction = instruction_of(binary->op, binary->type.is_float());
      const Expr& other = binary->left.as<ir::Load>() == own ? binary->right : binary->left;
      const auto* product = other.as<ir::Binary>();
      if (instruction == Instruction::add && product != nullptr && product->op == BinaryOp::mul &&
          target_.capabilities.fma)
        instruction = Instruction::fma;
      latency = core_.price(instruction).latency * times_of(binary->op, binary->type.is_float());
    }
    double updates = place_->copies(depends) / std::max(1.0, place_->copies(place));
    if (place_->is_vector(depends) && !place_->is_vector(place)) {
      // The lanes are combined in a tree.
      const double bytes = static_cast<double>(dtype_bytes(store.buffer->dtype));
      const double halvings = std::log2(std::max(2.0, target_.vector_bits / 8 / bytes));
      emit(Instruction::shuffle, halvings * place_->copies(place) * place_->step().share);
      emit(instruction, halvings * place_->copies(place) * place_->step().share);
      const double levels = std::log2(place_->vectors(depends, bytes));
      block_.latency +=
          (halvings * (latency + core_.price(Instruction::shuffle).latency) + levels * latency) * place_->step().share;
      updates *= levels + halvings;
    }
    if (!uses_.in_registers.contains(store.buffer.get())) latency += 2 * core_.price(Instruction::scalar_load).latency;
    const bool is_carried = place_->is_invariant(place) && !started_.contains(store.buffer.get());
    double& chain = is_carried ? block_.chain : block_.depth;
    chain = std::max(chain, latency * updates * place_->step().share);
  }

  // Values that do not fit the registers are loaded again in each iteration, and sums are stored as well.
  void add_spills() {
    const double registers = target_.vector_registers;
    double excess = block_.registers - registers;
    if (excess <= 0) return;
    const double reloaded = std::min(excess, invariants_);
    emit(Instruction::load, reloaded);
    excess -= reloaded;
    emit(Instruction::load, excess);
    emit(Instruction::store, excess);
  }

  const FunctionNest& function_;
  std::span<const LoopNest* const> path_;
  const BufferUses& uses_;
  const Target& target_;
  const Core& core_;
  const StepPlace* place_ = nullptr;  // the step
  Block block_;
  std::unordered_map<const ir::ExprNode*, Depends> lets_;
  std::vector<std::pair<const ir::Load*, Depends>> loads_;  // the step's
  std::unordered_set<const ir::Buffer*> started_;           // each iteration sets them anew
  std::vector<double> operand_loads_;
  double accumulators_ = 0, invariants_ = 0, operands_ = 0, streams_ = 0;
};

}  // namespace

Block block_of(const FunctionNest& function, std::span<const LoopNest* const> path, const BufferUses& uses,
               const Target& target, const Core& core) {
  return Count(function, path, uses, target, core).run();
}

}  // namespace ferry::cost
