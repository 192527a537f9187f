#include "device-runtime/plan/mixed_program.h"

#include <algorithm>
#include <utility>

namespace ferry::device {
namespace {

// A call reads the results of the launches before it, and a copy between devices waits for the steps before it on both.
// Calls need to wait for nothing else, since their memory is this process's. A stream that is waited for names the
// kernel that went wrong, which a transfer could not.
class MixedStream final : public Stream {
 public:
  MixedStream(std::span<Device* const> devices, std::vector<std::unique_ptr<Stream>> streams)
      : devices_(devices), streams_(std::move(streams)), lengths_(streams_.size()) {}

  Status add(BoundNativeCall call) override {
    const std::uint32_t device = call.device;
    FERRY_TRY(add_to(device, std::move(call)));
    steps_.back().first_result = std::exchange(first_unread_, results_.size());
    steps_.back().last_result = results_.size();
    return {};
  }
  Status add(BoundLaunch launch) override {
    const std::uint32_t device = launch.device;
    return add_to(device, std::move(launch));
  }
  Status add(BoundCopy copy) override {
    if (copy.to_device == copy.from_device) return add_to(copy.to_device, copy);
    steps_.push_back({copy.to_device, 0, copy, true});
    return {};
  }
  Status add(BoundFill fill) override { return add_to(fill.device, fill); }
  void add_result(const ResultPlace& place) override { results_.push_back(place); }

  std::int32_t set(std::size_t step, std::size_t operand, std::uint64_t to) override {
    MixedStep& one = steps_[step];
    if (!one.crosses) {
      const std::int32_t failed = stream_of(one).set(one.number, operand, to);
      if (failed != 0) (void)wait();
      return failed;
    }
    (operand == 0 ? one.copy.to : one.copy.from) = reinterpret_cast<void*>(static_cast<std::uintptr_t>(to));
    return 0;
  }

  StepTime describe(std::size_t step) const override {
    StepTime time;
    time.kind = StepKind::copy;
    if (!steps_[step].crosses) time = stream_of(steps_[step]).describe(steps_[step].number);
    time.device = steps_[step].device;
    return time;
  }

  std::int32_t run(std::size_t step, bool traced) override {
    const MixedStep& one = steps_[step];
    std::int32_t result = check_results(one);
    // A slot's first step is timed by its own device, in case no other follows.
    const bool is_first = open_ != SIZE_MAX && timings_[open_].steps++ == 0 && !one.crosses;
    if (is_first) timings_[open_].stream = one.device;
    if (result == 0 && is_first) result = stream_of(one).start_timing(open_);
    if (result == 0) result = one.crosses ? transfer(one.copy) : stream_of(one).run(one.number, traced);
    if (result == 0 && is_first) result = stream_of(one).end_timing(open_);
    // Other devices may still compute, and what they write may be freed after a failure.
    if (result != 0) (void)wait();
    return result;
  }

  std::int32_t wait() override {
    std::int32_t result = 0;
    for (const auto& stream : streams_)
      if (const std::int32_t failed = stream->wait(); result == 0) result = failed;
    return result;
  }

  // A slot with one step has the time that the step's device measured, any other slot the processor's, from when all
  // devices were idle until they are again.
  std::int32_t start_timing(std::size_t slot) override {
    const std::int32_t result = wait();
    timings_.resize(std::max(timings_.size(), slot + 1));
    timings_[slot] = {};
    open_ = slot;
    return result != 0 ? result : Stream::start_timing(slot);
  }
  std::int32_t end_timing(std::size_t slot) override {
    open_ = SIZE_MAX;
    const std::int32_t result = wait();
    return result != 0 ? result : Stream::end_timing(slot);
  }
  std::int32_t elapsed(std::size_t slot, std::int64_t& elapsed_ns) const override {
    const Timing& timing = timings_[slot];
    if (timing.steps == 1 && timing.stream != kNoStream) return streams_[timing.stream]->elapsed(slot, elapsed_ns);
    return Stream::elapsed(slot, elapsed_ns);
  }
  std::int64_t clock_resolution_ns() const override {
    std::int64_t resolution = 0;
    for (const auto& stream : streams_) resolution = std::max(resolution, stream->clock_resolution_ns());
    return resolution;
  }

  bool may_stay_open() const override {
    return std::all_of(streams_.begin(), streams_.end(), [](const auto& stream) { return stream->may_stay_open(); });
  }
  Status failure() const override {
    for (const auto& stream : streams_) FERRY_TRY(stream->failure());
    return failure_;
  }

 private:
  static constexpr std::uint32_t kNoStream = UINT32_MAX;

  struct MixedStep {
    std::uint32_t device = 0;
    std::size_t number = 0;  // in the device's stream
    BoundCopy copy = {};     // between devices
    bool crosses = false;
    std::size_t first_result = 0, last_result = 0;  // the results that are read before the step
  };
  struct Timing {
    std::size_t steps = 0;
    std::uint32_t stream = kNoStream;  // the stream that timed the first step
  };

  template <class Bound>
  Status add_to(std::uint32_t device, Bound bound) {
    FERRY_TRY(streams_[device]->add(std::move(bound)));
    steps_.push_back({device, lengths_[device]++});
    return {};
  }

  Stream& stream_of(const MixedStep& step) const { return *streams_[step.device]; }

  std::int32_t fail(Status status) {
    failure_ = std::move(status);
    return -1;
  }

  std::int32_t check_results(const MixedStep& step) {
    for (std::size_t i = step.first_result; i < step.last_result; ++i) {
      const ResultPlace& place = results_[i];
      if (const std::int32_t failed = streams_[place.device]->wait(); failed != 0) return failed;
      std::int32_t found = 0;
      Status read =
          devices_[place.device]->read(place.memory, 0, {reinterpret_cast<std::uint8_t*>(&found), sizeof found});
      if (!read.is_ok()) return fail(std::move(read));
      if (found != 0) return kLaunchFailed;
    }
    return 0;
  }

  std::int32_t transfer(const BoundCopy& copy) {
    for (const std::uint32_t device : {copy.from_device, copy.to_device})
      if (const std::int32_t failed = streams_[device]->wait(); failed != 0) return failed;
    Status copied =
        copy_between(*devices_[copy.to_device], copy.to, 0, *devices_[copy.from_device], copy.from, 0, copy.bytes);
    return copied.is_ok() ? 0 : fail(std::move(copied));
  }

  std::span<Device* const> devices_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<std::size_t> lengths_;  // how long each stream is
  std::vector<MixedStep> steps_;
  std::vector<ResultPlace> results_;
  std::size_t first_unread_ = 0;
  std::vector<Timing> timings_;
  std::size_t open_ = SIZE_MAX;  // the slot being timed
  Status failure_;
};

class MixedProgram final : public Program {
 public:
  MixedProgram(std::vector<Device*> devices, std::vector<std::unique_ptr<Program>> programs)
      : devices_(std::move(devices)), programs_(std::move(programs)) {}

  Result<std::unique_ptr<Stream>> open_stream(const FunctionInfo& function) override {
    std::vector<std::unique_ptr<Stream>> streams;
    for (const auto& program : programs_) {
      FERRY_ASSIGN(streams.emplace_back(), program->open_stream(function));
    }
    return std::unique_ptr<Stream>(std::make_unique<MixedStream>(devices_, std::move(streams)));
  }

 private:
  std::vector<Device*> devices_;
  std::vector<std::unique_ptr<Program>> programs_;
};

}  // namespace

std::unique_ptr<Program> mixed_program(std::vector<Device*> devices, std::vector<std::unique_ptr<Program>> programs) {
  return std::make_unique<MixedProgram>(std::move(devices), std::move(programs));
}

}  // namespace ferry::device
