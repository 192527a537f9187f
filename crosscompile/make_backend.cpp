#include "crosscompile/make_backend.h"

#include "crosscompile/backend/c/c_backend.h"
#include "crosscompile/backend/cuda/cuda_backend.h"
#include "crosscompile/backend/native/native_backend.h"
#include "crosscompile/backend/opencl/opencl_backend.h"

namespace ferry {

namespace {

template <class Kind>
std::unique_ptr<Backend> make(const Target& target) {
  return std::make_unique<Kind>(target);
}

// Every architecture that is not here is a CPU's, for which LLVM generates code.
constexpr struct {
  Arch arch;
  std::unique_ptr<Backend> (*make)(const Target& target);
} kOthers[] = {{Arch::c, make<CBackend>}, {Arch::cuda, make<CudaBackend>}, {Arch::opencl, make<OpenClBackend>}};

}  // namespace

std::unique_ptr<Backend> make_backend(const Target& target) {
  for (const auto& [arch, make_other] : kOthers)
    if (arch == target.arch) return make_other(target);
  return make<NativeBackend>(target);
}

}  // namespace ferry
