#include "crosscompile/codegen/llvm/mca/loop_values.h"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace ferry::codegen {

namespace {

// So many combinations of iterations are looked at, all of them if they are not more.
constexpr double kSamples = 512;

std::optional<std::int64_t> number_of(const llvm::APInt& value) {
  if (value.getSignificantBits() > 64) return std::nullopt;
  return value.getSExtValue();
}

std::optional<std::int64_t> combined(llvm::SCEVTypes kind, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  switch (kind) {
    case llvm::scAddExpr: return static_cast<std::int64_t>(x + y);
    case llvm::scMulExpr: return static_cast<std::int64_t>(x * y);
    case llvm::scSMaxExpr: return std::max(a, b);
    case llvm::scSMinExpr: return std::min(a, b);
    case llvm::scUMaxExpr: return static_cast<std::int64_t>(std::max(x, y));
    case llvm::scUMinExpr:
    case llvm::scSequentialUMinExpr: return static_cast<std::int64_t>(std::min(x, y));
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<double> LoopValues::trips(const llvm::Loop& loop) {
  if (const auto known = known_.find(&loop); known != known_.end()) return known->second;
  known_[&loop] = std::nullopt;
  if (const unsigned constant = evolution_.getSmallConstantTripCount(&loop)) return known_[&loop] = constant;
  const llvm::SCEV* back = evolution_.getBackedgeTakenCount(&loop);
  // Loops that run something in parallel are also left if that fails.
  if (llvm::isa<llvm::SCEVCouldNotCompute>(back) && loop.getLoopLatch() != nullptr)
    back = evolution_.getExitCount(&loop, loop.getLoopLatch());
  if (llvm::isa<llvm::SCEVCouldNotCompute>(back)) return std::nullopt;
  Iterations loops;
  add_loops(*back, loops);
  return known_[&loop] = average(loops, [&](const Iterations& iterations) -> std::optional<double> {
           const std::optional<std::int64_t> taken = at(*back, iterations);
           if (!taken) return std::nullopt;
           // The loop is not entered where it has no iterations.
           return std::max(static_cast<double>(*taken) + 1, 1.0);
         });
}

std::optional<double> LoopValues::share(llvm::Value& condition) {
  Iterations loops;
  add_loops(condition, loops);
  return average(loops, [&](const Iterations& iterations) -> std::optional<double> {
    const std::optional<bool> is_true = holds(condition, iterations);
    if (!is_true) return std::nullopt;
    return *is_true ? 1 : 0;
  });
}

void LoopValues::add_loops(const llvm::SCEV& value, Iterations& loops) const {
  llvm::SCEVExprContains(&value, [&](const llvm::SCEV* one) {
    if (const auto* recurrence = llvm::dyn_cast<llvm::SCEVAddRecExpr>(one)) loops[recurrence->getLoop()] = 0;
    return false;
  });
}

void LoopValues::add_loops(const llvm::Value& condition, Iterations& loops) const {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&condition);
  if (instruction == nullptr) return;
  for (llvm::Value* operand : instruction->operands()) {
    if (operand->getType()->isIntegerTy(1)) {
      add_loops(*operand, loops);
    } else if (evolution_.isSCEVable(operand->getType())) {
      add_loops(*evolution_.getSCEV(operand), loops);
    }
  }
}

std::optional<double> LoopValues::average(Iterations loops, const Quantity& quantity) {
  double combinations = 1;
  llvm::DenseMap<const llvm::Loop*, std::int64_t> extents;
  for (const auto& [loop, zero] : loops) {
    const std::optional<double> count = trips(*loop);
    if (!count) return std::nullopt;
    extents[loop] = std::max<std::int64_t>(1, std::llround(*count));
    combinations *= static_cast<double>(extents[loop]);
  }
  const bool is_whole = combinations <= kSamples;
  std::minstd_rand random;
  const double samples = std::min(combinations, kSamples);
  double sum = 0;
  for (std::int64_t i = std::llround(samples); i > 0; --i) {
    if (!is_whole)
      for (auto& [loop, iteration] : loops)
        iteration = std::uniform_int_distribution<std::int64_t>(0, extents[loop] - 1)(random);
    const std::optional<double> one = quantity(loops);
    if (!one) return std::nullopt;
    sum += *one;
    for (auto& [loop, iteration] : loops) {
      if (!is_whole || ++iteration < extents[loop]) break;
      iteration = 0;
    }
  }
  return sum / samples;
}

std::optional<std::int64_t> LoopValues::at(const llvm::SCEV& value, const Iterations& iterations) const {
  switch (value.getSCEVType()) {
    case llvm::scConstant: return number_of(llvm::cast<llvm::SCEVConstant>(value).getAPInt());
    case llvm::scUnknown: {
      const auto known = arguments_.find(llvm::cast<llvm::SCEVUnknown>(value).getValue());
      return known == arguments_.end() ? std::nullopt : std::optional(known->second);
    }
    case llvm::scSignExtend:
    case llvm::scZeroExtend:
    case llvm::scTruncate: return at(*llvm::cast<llvm::SCEVCastExpr>(value).getOperand(), iterations);
    case llvm::scUDivExpr: {
      const auto& division = llvm::cast<llvm::SCEVUDivExpr>(value);
      const auto left = at(*division.getLHS(), iterations), right = at(*division.getRHS(), iterations);
      if (!left || !right || *left < 0 || *right <= 0) return std::nullopt;
      return *left / *right;
    }
    case llvm::scAddRecExpr: {
      const auto& recurrence = llvm::cast<llvm::SCEVAddRecExpr>(value);
      const auto iteration = iterations.find(recurrence.getLoop());
      if (!recurrence.isAffine() || iteration == iterations.end()) return std::nullopt;
      const auto start = at(*recurrence.getStart(), iterations);
      const auto step = at(*recurrence.getOperand(1), iterations);
      if (!start || !step) return std::nullopt;
      const auto distance = combined(llvm::scMulExpr, *step, iteration->second);
      return distance ? combined(llvm::scAddExpr, *start, *distance) : std::nullopt;
    }
    case llvm::scAddExpr:
    case llvm::scMulExpr:
    case llvm::scSMaxExpr:
    case llvm::scSMinExpr:
    case llvm::scUMaxExpr:
    case llvm::scUMinExpr:
    case llvm::scSequentialUMinExpr: {
      std::optional<std::int64_t> result;
      for (const llvm::SCEV* operand : value.operands()) {
        const std::optional<std::int64_t> one = at(*operand, iterations);
        if (!one) return std::nullopt;
        result = result ? combined(value.getSCEVType(), *result, *one) : one;
      }
      return result;
    }
    default: return std::nullopt;
  }
}

std::optional<bool> LoopValues::holds(llvm::Value& condition, const Iterations& iterations) const {
  using namespace llvm::PatternMatch;
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(&condition)) return constant->isOne();
  llvm::Value *left = nullptr, *right = nullptr;
  if (match(&condition, m_Not(m_Value(left)))) {
    const std::optional<bool> negated = holds(*left, iterations);
    return negated ? std::optional(!*negated) : std::nullopt;
  }
  const bool is_and = match(&condition, m_LogicalAnd(m_Value(left), m_Value(right)));
  if (is_and || match(&condition, m_LogicalOr(m_Value(left), m_Value(right)))) {
    const std::optional<bool> a = holds(*left, iterations), b = holds(*right, iterations);
    if (!a || !b) return std::nullopt;
    return is_and ? *a && *b : *a || *b;
  }
  const auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(&condition);
  if (comparison == nullptr || !evolution_.isSCEVable(comparison->getOperand(0)->getType())) return std::nullopt;
  const auto a = at(*evolution_.getSCEV(comparison->getOperand(0)), iterations);
  const auto b = at(*evolution_.getSCEV(comparison->getOperand(1)), iterations);
  if (!a || !b) return std::nullopt;
  return llvm::ICmpInst::compare(llvm::APInt(64, static_cast<std::uint64_t>(*a), true),
                                 llvm::APInt(64, static_cast<std::uint64_t>(*b), true), comparison->getPredicate());
}

}  // namespace ferry::codegen
