// The judge's side of notify.h: it learns which threads of a runner have stopped, and lets them go on.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/descriptor.h"
#include "device-runtime/runner/notify.h"
#include "device-runtime/runner/zygote.h"

namespace ferry::device {

// A thread that has stopped.
struct Stop {
  std::uint64_t id = 0;    // 0: none
  bool is_first = false;   // the first thread of the runner
  std::int64_t at_ns = 0;  // when that was noticed
};

class Stops {
 public:
  virtual ~Stops() = default;
  // Waits until a thread has stopped. Returns nothing if the runner has ended, which its end of the socket tells.
  virtual std::optional<Stop> next(const Descriptor& runner) = 0;
  // Lets it go on, at the latest when the next one is waited for. Returns false if the thread is gone.
  virtual bool answer(const Stop& stop) = 0;
  // Whether all that was said has been received.
  virtual bool is_quiet() const { return true; }
  // Whether the system holds a thread that has stopped until it is answered.
  virtual bool are_held() const { return true; }
};

// Stops that the system reports to the owner of a listener.
class ReportedStops final : public Stops {
 public:
  ReportedStops(Descriptor listener, pid_t runner) : listener_(std::move(listener)), runner_(runner) {}
  std::optional<Stop> next(const Descriptor& runner) override;
  bool answer(const Stop& stop) override;

 private:
  Descriptor listener_;
  pid_t runner_;
};

// Stops that the system reports to the zygote, which traces its runner.
class TracedStops final : public Stops {
 public:
  TracedStops(const Zygote& zygote, pid_t runner) : zygote_(zygote), runner_(runner) {}
  // Waits until the first thread of a new runner has stopped for the first time, or the runner has ended.
  void wait_for_first();
  std::optional<Stop> next(const Descriptor& runner) override;
  bool answer(const Stop& stop) override;

 private:
  std::optional<Stop> wait();

  const Zygote& zygote_;
  pid_t runner_;
  pid_t goes_on_ = 0;        // has been answered, which the zygote learns with the next request
  std::vector<Stop> early_;  // those of a new runner
};

// Stops of which the threads themselves tell. What they say may be false: only their processor time shows whether they
// run.
class ToldStops final : public Stops {
 public:
  // The sockets are the judge's ends, of the first thread and of the others.
  explicit ToldStops(std::array<Descriptor, 2> sockets) : sockets_(std::move(sockets)) {}
  std::optional<Stop> next(const Descriptor& runner) override;
  bool answer(const Stop& stop) override;
  bool is_quiet() const override;
  bool are_held() const override { return false; }

 private:
  std::array<Descriptor, 2> sockets_;
};

}  // namespace ferry::device
