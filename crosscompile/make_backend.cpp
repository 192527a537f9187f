#include "crosscompile/make_backend.h"

#include "crosscompile/backend/c/c_backend.h"
#include "crosscompile/backend/cuda/cuda_backend.h"
#include "crosscompile/backend/native/native_backend.h"
#include "crosscompile/backend/opencl/opencl_backend.h"

namespace ferry {

std::unique_ptr<Backend> make_backend(const Target& target) {
  switch (target.arch) {
    case Arch::c: return std::make_unique<CBackend>(target);
    case Arch::cuda: return std::make_unique<CudaBackend>(target);
    case Arch::opencl: return std::make_unique<OpenClBackend>(target);
    case Arch::x86_64:
    case Arch::i386:
    case Arch::armv7:
    case Arch::arm:
    case Arch::aarch64:
    case Arch::riscv64:
    case Arch::riscv32:
    case Arch::wasm32:
    case Arch::wasm64:
    case Arch::other_cpu: break;
  }
  return std::make_unique<NativeBackend>(target);
}

}  // namespace ferry
