#include "device-runtime/supervisor/freed_memory.h"

#include <malloc.h>

#include <cstdlib>
#include <new>

#include "rpc/secure/secret.h"

namespace ferry::device {
namespace {

bool wipes = false;

}  // namespace

void wipe_freed_memory(bool wipe) { wipes = wipe; }

}  // namespace ferry::device

// Sanitizers define their own operators.
#if !defined(__SANITIZE_ADDRESS__)
// The standard library's other operators delete call this one.
void operator delete(void* memory) noexcept {
  if (ferry::device::wipes && memory != nullptr) ferry::secure::wipe(memory, malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
#endif
