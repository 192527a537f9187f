// Callbacks by which a service reports its progress.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace ferry {

// Held by the service while a step lasts. It may be null.
using StepGuard = std::shared_ptr<void>;

// Callbacks, each of which may be empty. They are called on the thread that called the service.
struct Observer {
  // Receives a warning or a note about the kernel, a line without its end.
  std::function<void(const std::string& line)> message;
  // Called when a step begins that may take a second or more, such as "compiling mm". The result is released when the
  // step ends.
  std::function<StepGuard(const std::string& what)> step;
  // Called when a kernel from this file is about to be compiled on this machine; the result is released afterwards.
  // Compilation cannot be interrupted: a caller that limits its time has to end the process.
  std::function<StepGuard(const std::string& file)> compilation;
  // Asked between measurements: when it returns true, the service ends early with what it has.
  std::function<bool()> is_interrupted = {};

  void tell(const std::string& line) const {
    if (message) message(line);
  }
  [[nodiscard]] StepGuard begin(const std::string& what) const { return step ? step(what) : nullptr; }
  [[nodiscard]] StepGuard begin_compilation(const std::string& file) const {
    return compilation ? compilation(file) : nullptr;
  }
  bool must_end() const { return is_interrupted && is_interrupted(); }
};

}  // namespace ferry
