#include "crosscompile/codegen/llvm/gpu/libdevice.h"

#include "crosscompile/ir/error.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>

namespace ferry::codegen {
namespace {

constexpr const char* kPrefix = "__nv_";

}  // namespace

std::string libdevice_symbol(const Target& target, const std::string& function) {
  if (target.capabilities.math_library) return kPrefix + function;
  throw CompileError(
      "PTX without CUDA's library has the math functions of float32 alone, short of fmod: expected one of "
      "those, or libdevice.10.bc (of a CUDA Toolkit, or 'pip install nvidia-cuda-nvcc-cu12' in the "
      "environment that VIRTUAL_ENV names; FERRY_LIBDEVICE names another file), got '" +
      function + "' and no such file");
}

void link_libdevice(llvm::Module& module, const std::string& file) {
  const auto is_wanted = [](const llvm::Function& one) {
    return one.isDeclaration() && one.getName().starts_with(kPrefix);
  };
  if (std::none_of(module.begin(), module.end(), is_wanted)) return;
  auto bytes = llvm::MemoryBuffer::getFile(file);
  if (!bytes)
    throw CompileError("expected libdevice, CUDA's math functions, in '" + file + "': " + bytes.getError().message());
  // Reads lazily, function by function: a kernel calls only a few of about a thousand.
  auto library = llvm::getOwningLazyBitcodeModule(std::move(*bytes), module.getContext());
  if (!library) throw CompileError("expected LLVM bitcode in '" + file + "': " + llvm::toString(library.takeError()));
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    throw CompileError("expected CUDA's math functions in '" + file + "', got something that does not fit the kernels");
  for (llvm::Function& function : module) {
    if (!function.getName().starts_with("__nv")) continue;
    if (is_wanted(function)) throw CompileError("'" + file + "' has no '" + function.getName().str() + "'");
    if (!function.isDeclaration()) function.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

}  // namespace ferry::codegen
