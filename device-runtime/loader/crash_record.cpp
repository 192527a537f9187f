#include "device-runtime/loader/crash_record.h"

#include <ucontext.h>

#include "device-runtime/loader/loaded_code.h"

namespace ferry::device {
namespace {

std::uintptr_t stopped_at(const void* context) {
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return machine.pc;
#elif defined(__arm__)
  return machine.arm_pc;
#else
  return machine.__gregs[REG_PC];
#endif
}

}  // namespace

std::atomic<const Crash*> crash_of_runner{nullptr};

bool copy_crash(Crash& to, const Crash& from) {
  const int signal = from.signal.load();
  int none = 0;
  if (signal == 0 || !to.taken.compare_exchange_strong(none, 1)) return false;
  to.address = from.address;
  to.module = from.module;
  to.offset = from.offset;
  to.signal.store(signal);
  return true;
}

bool record_crash(Crash& crash, int number, const siginfo_t& info, const void* context) {
  int none = 0;
  if (!crash.taken.compare_exchange_strong(none, 1)) return false;
  crash.address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  const LoadedCode::Place place = LoadedCode::find(stopped_at(context));
  crash.module = place.module;
  crash.offset = place.offset;
  crash.signal.store(number);
  return true;
}

}  // namespace ferry::device
