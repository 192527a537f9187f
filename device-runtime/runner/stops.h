// The judge's side of notify.h: it receives what the threads of a runner say as they stop, and lets them go on.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <span>

#include "base/descriptor.h"
#include "device-runtime/runner/notify.h"

namespace ferry::device {

// A thread that has stopped.
struct Stop {
  std::uint64_t id = 0;   // 0: none
  bool is_first = false;  // the first thread of the runner
  Notice notice = Notice::done;
  std::int32_t result = 0;  // as the runner says
};

class Stops {
 public:
  virtual ~Stops() = default;
  // The descriptors that can be read when a thread has stopped.
  virtual std::span<const Descriptor> descriptors() const = 0;
  enum class Received { stop, nothing, failure };
  virtual Received receive(const Descriptor& from, Stop& stop) = 0;
  // Returns false if the thread is gone.
  virtual bool answer(const Stop& stop) = 0;
  // Whether all that was said has been received.
  virtual bool is_quiet() const { return true; }
  // Whether the system holds a thread that has stopped until it is answered.
  virtual bool are_held() const = 0;
};

// Stops that the system reports to the owner of a listener.
class ReportedStops final : public Stops {
 public:
  ReportedStops(Descriptor listener, pid_t runner) : listener_(std::move(listener)), runner_(runner) {}
  std::span<const Descriptor> descriptors() const override { return {&listener_, 1}; }
  Received receive(const Descriptor& from, Stop& stop) override;
  bool answer(const Stop& stop) override;
  bool are_held() const override { return true; }

 private:
  Descriptor listener_;
  pid_t runner_;
};

// Stops of which the threads themselves tell. What they say may be false: only their processor time shows whether they
// run.
class ToldStops final : public Stops {
 public:
  // The sockets are the judge's ends, of the first thread and of the others.
  explicit ToldStops(std::array<Descriptor, 2> sockets) : sockets_(std::move(sockets)) {}
  std::span<const Descriptor> descriptors() const override { return sockets_; }
  Received receive(const Descriptor& from, Stop& stop) override;
  bool answer(const Stop& stop) override;
  bool is_quiet() const override;
  bool are_held() const override { return false; }

 private:
  std::array<Descriptor, 2> sockets_;
};

}  // namespace ferry::device
