// A function that our own code takes of a libstdc++ newer than packages ask for, which is that of GCC 11. Only
// libferry.so contains it, and does not export it.
#include <pthread.h>

#include <condition_variable>
#include <mutex>

// std::condition_variable::wait, whose version of GCC 12 differs from the one before only in its name's
// version.
extern "C" __attribute__((visibility("hidden"))) void ferry_wait(std::condition_variable* self,
                                                                 std::unique_lock<std::mutex>& lock) noexcept
    __asm__("_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");
void ferry_wait(std::condition_variable* self, std::unique_lock<std::mutex>& lock) noexcept {
  pthread_cond_wait(self->native_handle(), lock.mutex()->native_handle());
}
