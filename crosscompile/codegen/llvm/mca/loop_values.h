// Values of scalar evolution's expressions in iterations of loops. Only for files that may include LLVM.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Value.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace ferry::codegen {

class LoopValues {
 public:
  using Arguments = llvm::DenseMap<const llvm::Value*, std::int64_t>;

  // `arguments` are the values of the function's arguments that are known.
  LoopValues(llvm::ScalarEvolution& evolution, Arguments arguments)
      : evolution_(evolution), arguments_(std::move(arguments)) {}

  // Returns the trip count of a loop, on average over the loops around it.
  std::optional<double> trips(const llvm::Loop& loop);
  // Returns the share of the iterations of the loops around a condition in which it holds.
  std::optional<double> share(llvm::Value& condition);

 private:
  // In an order that no address decides: iterations are drawn in it.
  using Iterations = llvm::MapVector<const llvm::Loop*, std::int64_t>;
  using Quantity = std::function<std::optional<double>(const Iterations& iterations)>;

  void add_loops(const llvm::SCEV& value, Iterations& loops) const;
  void add_loops(const llvm::Value& condition, Iterations& loops) const;
  std::optional<double> average(Iterations loops, const Quantity& quantity);
  std::optional<std::int64_t> at(const llvm::SCEV& value, const Iterations& iterations) const;
  std::optional<bool> holds(llvm::Value& condition, const Iterations& iterations) const;

  llvm::ScalarEvolution& evolution_;
  Arguments arguments_;
  llvm::DenseMap<const llvm::Loop*, std::optional<double>> known_;
};

}  // namespace ferry::codegen
