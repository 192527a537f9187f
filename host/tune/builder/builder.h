// Compiles points of a space. A build that crashes or hangs is a result like any other.
#pragma once

#include "host/tune/records/tune_record.h"

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace ferry::tune {

using PointInOrder = std::vector<std::string>;  // as PointText::in_order
using ModuleBytes = std::vector<std::uint8_t>;  // a .ferry file

// Why there is no code, or no time: one of the outcomes but measured, with a sentence.
struct Failure {
  Outcome outcome = Outcome::refused;
  std::string reason;
};

using BuildResult = std::variant<ModuleBytes, Failure>;

// Returns the module of a point. Throws for a point that cannot be compiled.
using Compile = std::function<ModuleBytes(const PointInOrder& point)>;

class Builder {
 public:
  // No build may be under way.
  virtual ~Builder() = default;
  // Waits for the result. Threads may call it at the same time.
  virtual BuildResult build(const PointInOrder& point) = 0;
  // All builds stand still until resume() was called as often as this. The other methods may be called meanwhile.
  virtual void pause() = 0;
  virtual void resume() = 0;
};

// Compiles on the thread that calls build(): a crash or a hang is the caller's too.
class DirectBuilder final : public Builder {
 public:
  explicit DirectBuilder(Compile compile) : compile_(std::move(compile)) {}
  BuildResult build(const PointInOrder& point) override;
  void pause() override {}
  void resume() override {}

 private:
  Compile compile_;
};

}  // namespace ferry::tune
