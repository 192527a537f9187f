// Signals that ask the process to end: SIGINT (Ctrl-C), SIGTERM and SIGHUP. It dies of them, as shells expect, but
// removes its temporary folders first. Signals that were ignored when it started stay ignored.
#pragma once

namespace ferry::cli {

// Handles the signals from now on. Call it once, before other threads start.
void handle_interrupts();

// While such an object exists, the first signal only sets is_requested(): the work ends by itself and prints what it
// has. The second signal ends the process.
class InterruptibleWork {
 public:
  InterruptibleWork();
  ~InterruptibleWork();
  InterruptibleWork(const InterruptibleWork&) = delete;
  InterruptibleWork& operator=(const InterruptibleWork&) = delete;

  static bool is_requested();
};

// Ends the process by the signal that interrupted its work, if there was one.
void end_if_interrupted();

}  // namespace ferry::cli
