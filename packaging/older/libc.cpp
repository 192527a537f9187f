// Functions that LLVM's static libraries and our own code take of libraries newer than packages ask for: glibc 2.34
// and the libstdc++ of GCC 11. Only libferry.so contains these, and does not export them.
#include <pthread.h>
#include <sys/random.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>

// glibc 2.36. LLVM names temporary files with it.
extern "C" __attribute__((visibility("hidden"))) std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}

// Here this is std::condition_variable::wait, whose version of GCC 12 differs from the one before only in its name's
// version.
extern "C" __attribute__((visibility("hidden"))) void ferry_wait(std::condition_variable* self,
                                                                 std::unique_lock<std::mutex>& lock) noexcept
    __asm__("_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");
void ferry_wait(std::condition_variable* self, std::unique_lock<std::mutex>& lock) noexcept {
  pthread_cond_wait(self->native_handle(), lock.mutex()->native_handle());
}
