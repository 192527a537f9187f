// Shows whether calls that are measured do their work: before each, bytes that nothing can know are written over parts
// of the outputs, and the tensors that a call reads and writes get their contents back.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/random_stream.h"
#include "device-runtime/handlers/call_arguments.h"

namespace ferry::device {

class FreshOutputs {
 public:
  FreshOutputs(const SecretSeed& seed, double rtol) : random_(seed), rtol_(rtol) {}
  // Adds a call, which must outlive this; calls are numbered by the user. Fails with resource_exhausted without the
  // memory to keep the contents of inout tensors.
  Status add(std::size_t call, const CheckedCall& checked);
  // Whether results of several calls in succession differ from those of one.
  bool accumulates(std::size_t call) const;

  // Before the call. If there are `aims`, from 0 for the beginning of an output to 1 for its end, half of the parts are
  // there, and a quarter of all are only looked at.
  void prepare(std::size_t call, std::span<const double> aims = {});
  // After it: returns whether nothing is left of what was written over the parts.
  bool were_written(std::size_t call);
  // Returns whether the parts have the values that the same tensors have elsewhere in the processor's memory, beyond
  // rounding; if `whole`, whether all elements have. were_written() has read the parts.
  bool are_equal(std::size_t call, std::span<const DeviceArgument> elsewhere, bool whole) const;
  // After a sample: counts in `samples` if bytes are still there, or if the sample has left other values in their place
  // than the sample before.
  void inspect(std::size_t call, Samples& samples);

  // The first failure of a device.
  const Status& status() const { return status_; }

 private:
  // A block is a cache line, so that few other lines leave the caches.
  static constexpr std::size_t kBlock = 64, kBlocks = 32;
  using Line = std::uint8_t[kBlock];

  // A tensor that the call writes.
  struct Tensor {
    std::size_t call = 0, parameter = 0;
    Device* device = nullptr;
    void* memory = nullptr;
    std::uint64_t bytes = 0;
    DType dtype = DType::f32;
    std::unique_ptr<Buffer> kept = {};  // the contents of an inout tensor
    bool has_run = false;
    // The blocks of dense tensors: where they are, what was there before, what was written there unless the call reads
    // them, and what is there after the call.
    std::size_t blocks = 0, used = 0;  // at most so many, and so many now
    std::uint64_t places[kBlocks] = {};
    bool is_poisoned[kBlocks] = {};
    Line earlier[kBlocks] = {}, poison[kBlocks] = {}, now[kBlocks] = {};

    std::span<std::uint8_t> part(Line& line, std::size_t block) const {
      return {line, static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, bytes - places[block]))};
    }
  };

  void choose_places(Tensor& tensor, std::span<const double> aims);
  void write_poison(Tensor& tensor, std::size_t block);

  RandomStream random_;
  double rtol_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
  Status status_;

  void expect(Status status) {
    if (status_.is_ok()) status_ = std::move(status);
  }
};

}  // namespace ferry::device
