// Compiles points in other processes, so that one that crashes, hangs or takes all memory ends nothing else.
//
// The processes are forked from one that is forked when the builder is made and does nothing but that: it has one
// thread and no connections, so that a fork of it is safe and cheap, and what it has loaded is shared. A process builds
// one point at a time. If the build succeeds, the process builds others: it has paid for a fork and has memory that the
// system need not clear again. Otherwise it ends, since nobody knows what the failure has left. All of them end with
// this process.
#pragma once

#include "base/descriptor.h"
#include "host/tune/builder/build_process.h"

#include <sys/types.h>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ferry::tune {

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
  // A process that waits for a point, at the other end of a socket.
  struct Worker {
    Descriptor socket;
    unsigned builds = 0;
  };

  // Returns a process that is free, or has one forked; nothing if there can be none.
  std::optional<Worker> take_worker();
  void give_back(Worker worker);

  BuildLimits limits_;
  Descriptor requests_;  // to the process that forks
  pid_t forker_ = -1;
  std::mutex mutex_;
  std::vector<Worker> free_;  // the last one has built last
  unsigned pauses_ = 0;
};

}  // namespace ferry::tune
