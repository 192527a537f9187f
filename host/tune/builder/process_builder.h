// Compiles each point in a process of its own, so that one that crashes, hangs or takes all memory ends nothing else.
//
// The processes are forked from one that is forked when the builder is made and does nothing but that: it has one
// thread and no connections, so that a fork of it is safe and cheap, and what it has loaded is shared. All of them end
// with this process.
#pragma once

#include "base/descriptor.h"
#include "host/tune/builder/builder.h"

#include <sys/types.h>

#include <mutex>

namespace ferry::tune {

struct BuildLimits {
  unsigned seconds = 20;  // processor time of a build; it is hung if it takes longer
};

class ProcessBuilder final : public Builder {
 public:
  // Compiles with this function, in other processes. Throws Error with resource_exhausted if there can be none.
  explicit ProcessBuilder(const Compile& compile, BuildLimits limits = {});
  ~ProcessBuilder() override;
  ProcessBuilder(const ProcessBuilder&) = delete;
  ProcessBuilder& operator=(const ProcessBuilder&) = delete;

  BuildResult build(const PointInOrder& point) override;
  void pause() override;
  void resume() override;

 private:
  BuildLimits limits_;
  Descriptor requests_;  // to the process that forks
  pid_t forker_ = -1;
  std::mutex mutex_;
  unsigned pauses_ = 0;
};

}  // namespace ferry::tune
