#include "device-runtime/supervisor/signal_name.h"

#include <signal.h>

#include "base/format.h"

namespace ferry::device {

std::string signal_name(int number) {
  switch (number) {
    case SIGSEGV: return "SIGSEGV (bad memory access)";
    case SIGBUS: return "SIGBUS (bad memory access)";
    case SIGFPE: return "SIGFPE (bad arithmetic)";
    case SIGILL: return "SIGILL (illegal instruction)";
    case SIGABRT: return "SIGABRT";
    case SIGTRAP: return "SIGTRAP";
    case SIGKILL: return "SIGKILL";
    case SIGTERM: return "SIGTERM";
    case SIGSYS: return "SIGSYS (forbidden system call)";
    case SIGXCPU: return "SIGXCPU (processor time used up)";
  }
  return format("signal %d", number);
}

}  // namespace ferry::device
