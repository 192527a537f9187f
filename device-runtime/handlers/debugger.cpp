#include "device-runtime/handlers/debugger.h"

#include <time.h>
#include <unistd.h>

#include "device-runtime/facts/proc_files.h"

namespace ferry::device {
namespace {

bool is_debugged(int status) {
  bool traced = false;
  for_each_field(read_small_file(status), [&](std::string_view key, std::string_view line) {
    if (key == "TracerPid") traced = field_value(line) != "0";
  });
  return traced;
}

}  // namespace

void await_debugger(SessionState& state, RequestContext& context) {
  if (!state.wait_for_debugger) return;
  state.wait_for_debugger = false;
  context.log(format("waiting for a debugger on the device: gdb -p %d", getpid()));
  while (!is_debugged(state.access.files.status.number())) {
    const timespec moment{0, 50'000'000};
    nanosleep(&moment, nullptr);
  }
}

}  // namespace ferry::device
