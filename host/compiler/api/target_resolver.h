// Targets as users and devices name them: the first of the three parts of a Compiler.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ferry/device_facts.h"
#include "ferry/target/target.h"

namespace ferry {

struct NamedTarget;

// A result, with notes for the user.
template <class T>
struct Noted {
  T value;
  std::vector<std::string> notes = {};
};

// Throws CompileError for a mistake of the user. Threads may share one.
class TargetResolver {
 public:
  virtual ~TargetResolver() = default;

  // Parses a target as the user writes it.
  virtual Noted<Target> resolve_target(std::string_view text) const = 0;
  virtual Target target_of(const DeviceFacts& facts) const = 0;
  virtual const std::vector<NamedTarget>& named_targets() const = 0;
};

}  // namespace ferry
