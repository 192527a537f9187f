// Runs work with a time limit in a process of its own.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace ferry::fuzz {

// A failure of a case; its kinds are those of Outcome.
class Failure : public std::runtime_error {
 public:
  Failure(std::string kind, const std::string& message) : std::runtime_error(message), kind_(std::move(kind)) {}
  const std::string& kind() const { return kind_; }

 private:
  std::string kind_;
};

// Returns false if the work did not end within this many seconds of processor time, or needs more memory than the
// interpreter provides. Another exception of the work is rethrown here as a Failure; nothing else it does is visible.
// `is_alive` is called from time to time while the work makes progress.
bool within_limit(int processor_seconds, const std::function<void()>& work, const std::function<void()>& is_alive);

}  // namespace ferry::fuzz
