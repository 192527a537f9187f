// The data that an instance of an exported function keeps at the beginning of its arena: %instance (runtime_text.h),
// followed by the sizes and addresses of constants and the addresses of persistent buffers.
#pragma once

#include "crosscompile/codegen/llvm/plan/c_interface.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace ferry::codegen {

// Members of %instance.
enum class InstanceField : unsigned {
  api,
  call_workspace,
  thread_workspaces,
  thread_stride,
  pool,
  weights,
  arena_bytes,
  kept_bytes,
  mark,
  threads
};

class InstanceLayout {
 public:
  InstanceLayout(llvm::Module& module, const FunctionInfo& function, const CInterface& interface);

  // Bytes of it all, a multiple of kMemoryAlignment.
  std::uint64_t bytes() const { return bytes_; }

  llvm::Value* field(llvm::IRBuilder<>& b, llvm::Value* instance, InstanceField field) const;
  llvm::Value* load(llvm::IRBuilder<>& b, llvm::Value* instance, InstanceField wanted) const;
  void store(llvm::IRBuilder<>& b, llvm::Value* instance, InstanceField wanted, llvm::Value* value) const;
  // The address of the size or the address of the constant that is init's argument with this index.
  llvm::Value* kept_argument(llvm::IRBuilder<>& b, llvm::Value* instance, std::size_t init_argument) const;
  llvm::Value* persistent(llvm::IRBuilder<>& b, llvm::Value* instance, std::size_t index) const;

  llvm::StructType* api() const;

 private:
  llvm::StructType* instance_;
  llvm::StructType*
      whole_;  // %instance, then an i64 or a pointer for each of init's arguments, then persistent buffers
  std::size_t init_arguments_;
  std::uint64_t bytes_;
};

}  // namespace ferry::codegen
