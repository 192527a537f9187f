#include "rpc/secure/secret.h"

#include <sodium/utils.h>

namespace ferry::secure {
namespace {

// libsodium's deepest function uses 4 KB, and a signal that interrupts it up to 12 KB for the registers.
constexpr std::size_t kStackBytes = 32 << 10;

}  // namespace

void wipe(void* bytes, std::size_t count) { sodium_memzero(bytes, count); }

[[gnu::noinline]] void wipe_stack() {
  std::uint8_t below[kStackBytes];
  sodium_memzero(below, sizeof below);
}

}  // namespace ferry::secure
