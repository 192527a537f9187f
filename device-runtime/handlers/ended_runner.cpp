#include "device-runtime/handlers/ended_runner.h"

#include <signal.h>
#include <unistd.h>

#include <string>

namespace ferry::device {

void end_like_runner(IsolatedCall& runner, Activity& activity) {
  if (!runner.ended()) return;
  const std::string printed = runner.take_printed();
  activity.printed.append(printed.data(), printed.size());
  const int number = runner.ended()->signal;
  if (number < 0) _exit(runner.ended()->exit_status);
  if (runner.crash().signal.load() == number) copy_crash(activity.crash, runner.crash());
  signal(number, SIG_DFL);
  kill(getpid(), number);
  _exit(1);
}

}  // namespace ferry::device
