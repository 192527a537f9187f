// Work that may take longer than a case is worth, in a process of its own.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace ferry::fuzz {

// What is wrong with a case; kinds as in Outcome.
class Failure : public std::runtime_error {
 public:
  Failure(std::string kind, const std::string& message) : std::runtime_error(message), kind_(std::move(kind)) {}
  const std::string& kind() const { return kind_; }

 private:
  std::string kind_;
};

// False when the work did not end within so many seconds of the processor. What it throws is thrown here as a Failure;
// nothing else of what it does is seen. `is_alive` is called every now and then while it makes progress.
bool within_limit(int processor_seconds, const std::function<void()>& work, const std::function<void()>& is_alive);

}  // namespace ferry::fuzz
