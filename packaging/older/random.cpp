// The function of glibc 2.36 by which LLVM's libraries and a static libstdc++ draw random numbers, for programs that
// are to run with older ones.
#include <sys/random.h>

#include <cstdint>

extern "C" __attribute__((visibility("hidden"))) std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}
