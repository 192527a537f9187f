// Code for sizes: integers of 64 bits that never wrap. Whether any of them overflowed, was divided by zero or negative
// where only sizes are possible, is known at the end.
#pragma once

#include "module/manifest.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <vector>

namespace ferry::codegen {

class SizeCode {
 public:
  SizeCode(llvm::IRBuilder<>& builder, std::vector<llvm::Value*> symbols);

  // Computes the values of a plan, which replace those of another plan.
  void define(const Plan& plan);
  // 0 for kNoValue.
  llvm::Value* value(ValueIndex index) const;
  // Likewise, and invalid below 0.
  llvm::Value* size(ValueIndex index);
  llvm::Value* evaluate(const ManifestExpr& expr);
  llvm::Value* apply(ManifestOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* add(llvm::Value* a, llvm::Value* b) { return apply(ManifestOp::add, a, b); }
  llvm::Value* mul(llvm::Value* a, llvm::Value* b) { return apply(ManifestOp::mul, a, b); }
  // Takes a power of 2.
  llvm::Value* round_up(llvm::Value* size, std::uint64_t multiple);
  // Returns the bytes of a dense tensor, 0 if it has no elements, or those up to the end of a strided one's last
  // element.
  llvm::Value* tensor_bytes(const ParameterInfo& parameter);

  // Takes an i1.
  void refuse_if(llvm::Value* condition);
  // i1.
  llvm::Value* is_invalid() const { return invalid_; }

 private:
  llvm::Value* divide(ManifestOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* checked(llvm::Intrinsic::ID operation, llvm::Value* a, llvm::Value* b);
  llvm::Value* truth(llvm::Value* condition);
  llvm::Value* as_size(llvm::Value* value);

  llvm::IRBuilder<>& b_;
  std::size_t symbols_;
  std::vector<llvm::Value*> values_;
  llvm::Value* invalid_;
};

}  // namespace ferry::codegen
