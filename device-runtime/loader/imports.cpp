#include "device-runtime/loader/imports.h"

// The functions are declared under names of our own and mapped to their symbols by assembler names. So the compiler
// neither complains about the prototypes of its built-ins nor folds the pointers.
#define FERRY_DECLARE(name) extern "C" void ferry_import_##name() __asm__(#name);
#define FERRY_ENTRY(name) {#name, &ferry_import_##name},

#define FERRY_FOR_any(use, name) use(name)
#if defined(__x86_64__)
#define FERRY_FOR_x86_64(use, name) use(name)
#else
#define FERRY_FOR_x86_64(use, name)
#endif
#if defined(__arm__)
#define FERRY_FOR_armv7(use, name) use(name)
#else
#define FERRY_FOR_armv7(use, name)
#endif
#if defined(__aarch64__)
#define FERRY_FOR_aarch64(use, name) use(name)
#else
#define FERRY_FOR_aarch64(use, name)
#endif
#if defined(__riscv)
#define FERRY_FOR_riscv64(use, name) use(name)
#else
#define FERRY_FOR_riscv64(use, name)
#endif

#define FERRY_SYMBOL(name, architecture) FERRY_FOR_##architecture(FERRY_DECLARE, name)
#include "module/symbols.def"
#undef FERRY_SYMBOL

namespace ferry::device {
namespace {

struct Import {
  const char* name;
  void (*address)();
};

// [[gnu::used]] makes link-time optimisation keep functions that only kernels call.
[[gnu::used]] const Import kImports[] = {
#define FERRY_SYMBOL(name, architecture) FERRY_FOR_##architecture(FERRY_ENTRY, name)
#include "module/symbols.def"
#undef FERRY_SYMBOL
};

}  // namespace

void* find_import(std::string_view name) {
  for (const Import& import : kImports) {
    if (name == import.name) return reinterpret_cast<void*>(import.address);
  }
  return nullptr;
}

}  // namespace ferry::device
