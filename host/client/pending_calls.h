// Calls, measurements and comparisons whose answers are taken later, so that many requests are on their way at once. A
// server answers them in the order in which they were sent (rpc/PROTOCOL.md).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/client/contents.h"
#include "host/client/prepared_call.h"
#include "host/client/state.h"

namespace ferry::session {

// Loads a module without asking first whether the server has it, which costs a round trip where it does not, and
// returns the function. Throws Error with not_found if the module has none of this name; what the server says is
// reported by the first call.
Function send_function(const Device& device, const CompiledModule& module, const std::string& name);

// Calls of functions that were sent and may not have been answered. Keeps what they write.
template <class Reply>
class PendingCalls {
 public:
  PendingCalls() = default;
  PendingCalls(std::shared_ptr<detail::ModuleState> module, std::vector<detail::PreparedCall> calls,
               Pending<Reply> pending)
      : module_(std::move(module)), calls_(std::move(calls)), pending_(std::move(pending)) {}

  // Waits for the answer. Throws as Function::call().
  Reply get() {
    try {
      return pending_.get();
    } catch (const Error& error) {
      detail::explain_failure(*module_, calls_, error);
      throw;
    }
  }

 private:
  std::shared_ptr<detail::ModuleState> module_;
  std::vector<detail::PreparedCall> calls_;
  Pending<Reply> pending_;
};

class PendingCall {
 public:
  PendingCall() = default;
  explicit PendingCall(PendingCalls<rpc::CallReply> calls) : calls_(std::move(calls)) {}
  // Returns for how many seconds it ran on the device.
  double seconds() { return static_cast<double>(calls_.get().elapsed_ns) * 1e-9; }

 private:
  PendingCalls<rpc::CallReply> calls_;
};

class PendingTimings {
 public:
  PendingTimings() = default;
  PendingTimings(PendingCalls<rpc::Evaluation> calls, std::size_t timed) : calls_(std::move(calls)), timed_(timed) {}
  // Returns one timing for each call that is not a witness.
  std::vector<Timing> get();

 private:
  PendingCalls<rpc::Evaluation> calls_;
  std::size_t timed_ = 0;
};

class PendingDifference {
 public:
  PendingDifference(Pending<rpc::CompareReply> pending, std::uint64_t elements)
      : pending_(std::move(pending)), elements_(elements) {}
  // As compare_tensors().
  std::optional<ContentDifference> get();

 private:
  Pending<rpc::CompareReply> pending_;
  std::uint64_t elements_;
};

PendingCall send_call(const Function& function, const std::vector<Argument>& arguments);
// As measure_in_turns(), of at least one call.
PendingTimings send_measurement(const std::vector<TimedCall>& calls, const BenchOptions& options);
PendingDifference send_comparison(const DeviceTensor& a, const DeviceTensor& b, double rtol, double atol);

// Writes to all elements of a dense tensor, as Device::filled() does to those of a new one.
void send_fill(const DeviceTensor& tensor, FillKind kind, std::uint64_t seed);

}  // namespace ferry::session
