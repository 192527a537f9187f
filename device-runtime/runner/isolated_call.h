// A call that runs in a process of its own and is timed from outside.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device-runtime/measure/counters.h"
#include "device-runtime/measure/measure.h"
#include "device-runtime/runner/isolated_memory.h"
#include "device-runtime/runner/isolation.h"
#include "device-runtime/runner/window.h"

namespace ferry::device {

struct RunnerOptions {
  std::uint32_t threads = 1;
  std::int32_t core = -1;          // where its first thread runs; -1: wherever this process may
  std::size_t empty_windows = 25;  // windows without calls, whose median is subtracted from samples
};

class IsolatedCall final : public Workload {
 public:
  // Starts the runner of the call with this number, whose memory is filled. Fails if it cannot be started, or cannot
  // load the module.
  static Result<std::unique_ptr<IsolatedCall>> start(const Isolation& isolation, const IsolatedMemory& memory,
                                                     std::size_t number, const CallToIsolate& call,
                                                     const RunnerOptions& options, std::uint64_t memory_bytes);
  IsolatedCall(const IsolatedCall&) = delete;
  IsolatedCall& operator=(const IsolatedCall&) = delete;
  ~IsolatedCall() override;

  std::int32_t run() override;
  // Where something else ran on the core of the only thread within the window, the time is the runner's processor time:
  // the processes take turns at both ends of a window, where others would get the core for milliseconds.
  std::int32_t sample(std::uint64_t calls, std::int64_t& elapsed_ns) override;
  std::int32_t first_call(std::int64_t& elapsed_ns) override { return sample(1, elapsed_ns); }
  // A call of other sizes in place of one of the sets.
  struct Exchange {
    std::size_t other = 0;  // the number of the call, from 1 on; 0: none
    std::size_t at = 0;     // the set
  };
  // Runs so many calls with the next sets of arguments in turn, beginning with set `first`.
  std::int32_t sample(std::uint64_t calls, std::size_t first, std::int64_t& elapsed_ns) {
    return sample(calls, first, {}, elapsed_ns);
  }
  std::int32_t sample(std::uint64_t calls, std::size_t first, Exchange exchange, std::int64_t& elapsed_ns);
  std::int64_t clock_resolution_ns() const override;
  std::optional<bool> was_interrupted() const override { return was_interrupted_; }

  // How its stops are noticed.
  TimingIsolation method() const { return method_; }
  Counters& counters() { return counters_; }
  // Opens a window without calls. Returns false if the runner has ended.
  bool open_empty(Window& window) { return windows_.open(0, window); }
  // The median time of such a window when the runner was new, which is subtracted from samples.
  std::int64_t overhead_ns() const { return overhead_ns_; }
  // Returns why the times cannot be believed; ok if the runner ran in its windows alone.
  Status check_processor_time() const;
  // Returns what the kernel has printed since the last call.
  std::string take_printed();
  // How the runner ended, if it did: the signal, or -1 and the exit status. What it recorded then its kernel may have
  // changed.
  struct End {
    int signal = -1, exit_status = 0;
  };
  const std::optional<End>& ended() const { return ended_; }
  const Crash& crash() const { return page_.crash; }

 private:
  IsolatedCall(const Isolation& isolation, Windows windows, RunnerPage& page, const RunnerOptions& options,
               TimingIsolation method)
      : isolation_(isolation), windows_(std::move(windows)), page_(page), options_(options), method_(method) {}
  bool measure_overhead(std::size_t count);
  bool open(std::uint64_t calls, std::size_t first, Exchange exchange, Window& window);

  const Isolation& isolation_;
  Windows windows_;
  RunnerPage& page_;
  RunnerOptions options_;
  TimingIsolation method_;
  Counters counters_;
  std::int64_t overhead_ns_ = 0, processor_overhead_ns_ = 0;  // a window without calls takes so long
  std::int64_t inside_ns_ = 0, windows_ns_ = 0;
  bool was_interrupted_ = false;
  std::optional<End> ended_;
};

}  // namespace ferry::device
