// Places the memory of an exported plan in its arena: the instance, persistent buffers, the workspaces of a plan,
// those of threads. The plan of a call and the init plan use the same memory for their workspaces.
#pragma once

#include "crosscompile/codegen/llvm/plan/size_code.h"
#include "module/manifest.h"

#include <vector>

namespace ferry::codegen {

// Offsets and sizes in bytes, i64.
struct PersistentPlaces {
  std::vector<llvm::Value*> offsets;
  llvm::Value* end = nullptr;
};
// `sizes` has the values of the init plan. The first buffer lies at `begin`.
PersistentPlaces place_persistent(SizeCode& sizes, llvm::IRBuilder<>& b, const FunctionInfo& function,
                                  std::uint64_t begin);

struct WorkspacePlaces {
  std::vector<llvm::Value*> offsets;      // where the plan's workspaces begin
  llvm::Value* threads_offset = nullptr;  // where the workspace of the first thread begins
  llvm::Value* thread_stride = nullptr;   // from one thread's to the next; 0 if there are none
  llvm::Value* end = nullptr;
};
// `sizes` has the values of the plan.
WorkspacePlaces place_workspaces(SizeCode& sizes, llvm::IRBuilder<>& b, const Plan& plan, llvm::Value* begin,
                                 llvm::Value* threads);

}  // namespace ferry::codegen
