// The steps of a plan on an OpenCL device, in order in its queue.
#pragma once

#include <array>
#include <utility>
#include <variant>
#include <vector>

#include "device-runtime/opencl/opencl_device.h"

namespace ferry::device {

// Owns an OpenCL object and releases it in its destructor.
template <class Handle>
class OwnedCl {
 public:
  OwnedCl() = default;
  OwnedCl(Handle handle, cl_int (*release)(Handle)) : handle_(handle), release_(release) {}
  OwnedCl(OwnedCl&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), release_(other.release_) {}
  OwnedCl& operator=(OwnedCl&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(release_, other.release_);
    return *this;
  }
  ~OwnedCl() {
    if (handle_ != nullptr) release_(handle_);
  }
  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
  cl_int (*release_)(Handle) = nullptr;
};

class OpenClStream final : public Stream {
 public:
  OpenClStream(OpenClDevice& device, cl_program program, const FunctionInfo& function)
      : device_(device), program_(program), function_(function) {}
  OpenClStream(const OpenClStream&) = delete;
  OpenClStream& operator=(const OpenClStream&) = delete;
  ~OpenClStream() override;

  Status add(BoundNativeCall call) override;
  Status add(BoundLaunch launch) override;
  Status add(BoundCopy copy) override;
  Status add(BoundFill fill) override;
  std::int32_t set(std::size_t step, std::size_t operand, std::uint64_t to) override;
  StepTime describe(std::size_t step) const override;
  std::int32_t run(std::size_t step, bool traced) override;
  std::int32_t wait() override;
  // Measured by the device's clock from the start of the first step to the end of the last.
  std::int32_t start_timing(std::size_t slot) override;
  std::int32_t end_timing(std::size_t slot) override;
  std::int32_t elapsed(std::size_t slot, std::int64_t& elapsed_ns) const override;
  std::int64_t clock_resolution_ns() const override;
  Status failure() const override { return failure_; }

 private:
  struct Launch {
    OwnedCl<cl_kernel> kernel;
    std::array<std::size_t, 3> global, local;
    StepTime described;
    std::vector<std::uint8_t> number_bytes;  // the size of each operand; 0: it is memory
    std::vector<OwnedCl<cl_mem>> replaced;   // sub-buffers of operands that were set
  };
  // The events of the first and the last step of a timing; no last one if there was a single step.
  struct Timing {
    OwnedCl<cl_event> first, last;
  };

  cl_int enqueue(const Launch& launch, cl_event* event);
  cl_int enqueue(const BoundCopy& copy, cl_event* event);
  cl_int enqueue(const BoundFill& fill, cl_event* event);
  Status set(cl_kernel kernel, cl_uint index, const BoundOperand& operand);
  Result<cl_mem> buffer_at(void* memory);
  Status replace(Launch& launch, std::size_t index, const BoundOperand& operand);
  std::int32_t fail(const char* function, cl_int error) const;

  OpenClDevice& device_;
  cl_program program_;
  const FunctionInfo& function_;
  std::vector<OwnedCl<cl_mem>> sub_buffers_;
  std::vector<std::variant<Launch, BoundCopy, BoundFill>> steps_;
  std::vector<Timing> timings_;
  std::size_t open_ = SIZE_MAX;  // the slot being timed
  std::uint64_t queued_ = 0;
  mutable Status failure_;
};

}  // namespace ferry::device
