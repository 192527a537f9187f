#include "device-runtime/opencl/opencl_program.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "device-runtime/device/plan_call.h"
#include "device-runtime/opencl/opencl_limits.h"

namespace ferry::device {
namespace {

constexpr const char* kImage = "opencl-c";
constexpr const char* kOptions = "-cl-std=CL1.2";
constexpr std::size_t kMaxLog = 8 << 10;
constexpr std::uint64_t kMaxQueued = 1024;

// Owns an OpenCL object and releases it in its destructor.
template <class Handle>
class Owned {
 public:
  Owned(Handle handle, cl_int (*release)(Handle)) : handle_(handle), release_(release) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), release_(other.release_) {}
  Owned& operator=(Owned&&) = delete;
  ~Owned() {
    if (handle_ != nullptr) release_(handle_);
  }
  Handle get() const { return handle_; }

 private:
  Handle handle_;
  cl_int (*release_)(Handle);
};

struct PreparedLaunch {
  Owned<cl_kernel> kernel;
  std::array<std::size_t, 3> global, local;
  StepTime step;  // without times
};

class OpenClCall final : public Workload {
 public:
  OpenClCall(OpenClDevice& device, std::uint64_t workspace_bytes) : device_(device), bytes_(workspace_bytes) {}
  OpenClCall(const OpenClCall&) = delete;
  OpenClCall& operator=(const OpenClCall&) = delete;
  ~OpenClCall() override {
    launches_.clear();
    sub_buffers_.clear();
    if (workspace_ != nullptr) device_.release(workspace_, bytes_);
  }

  Status prepare(cl_program program, const FunctionInfo& function, std::span<const DeviceArgument> arguments,
                 const BoundCall& bound) {
    FERRY_ASSIGN(workspace_, device_.allocate(bytes_));
    FERRY_ASSIGN(const std::vector<BoundLaunch> launches, bind_plan(function, arguments, bound, workspace_));
    result_ = result_place(function, workspace_);
    for (const BoundLaunch& launch : launches) FERRY_TRY(add(program, function, launch));
    return {};
  }

  std::int32_t run() override {
    for (const PreparedLaunch& launch : launches_) {
      if (const cl_int error = enqueue(launch, nullptr); error != CL_SUCCESS)
        return fail("clEnqueueNDRangeKernel", error);
    }
    const cl_int error = device_.api().clFinish(device_.queue());
    return error == CL_SUCCESS ? result() : fail("clFinish", error);
  }

  // Measured by the device's clock from the start of the first launch to the end of the last.
  std::int32_t sample(std::uint64_t calls, std::int64_t& elapsed_ns) override {
    if (launches_.empty()) return Workload::sample(calls, elapsed_ns);
    const OpenClApi& api = device_.api();
    const std::uint64_t all = calls * launches_.size();
    cl_event first = nullptr, last = nullptr;
    cl_int error = CL_SUCCESS;
    for (std::uint64_t i = 0; i < all && error == CL_SUCCESS; ++i) {
      cl_event* const event = i == 0 ? &first : i + 1 == all ? &last : nullptr;
      error = enqueue(launches_[static_cast<std::size_t>(i % launches_.size())], event);
      // Bounds the queue, and with it the memory of its entries.
      if (i % kMaxQueued == kMaxQueued - 1 && error == CL_SUCCESS) error = api.clFinish(device_.queue());
    }
    if (error == CL_SUCCESS) error = api.clFinish(device_.queue());
    if (error == CL_SUCCESS) error = elapsed(first, last != nullptr ? last : first, elapsed_ns);
    for (const cl_event event : {first, last}) {
      if (event != nullptr) api.clReleaseEvent(event);
    }
    return error == CL_SUCCESS ? result() : fail("clEnqueueNDRangeKernel", error);
  }

  std::vector<StepTime> steps() const override {
    std::vector<StepTime> steps;
    for (const PreparedLaunch& launch : launches_) steps.push_back(launch.step);
    return steps;
  }

  std::int32_t run_timed(std::span<std::int64_t> elapsed_ns) override {
    const OpenClApi& api = device_.api();
    std::vector<Owned<cl_event>> events;
    cl_int error = CL_SUCCESS;
    for (std::size_t i = 0; i < launches_.size() && error == CL_SUCCESS; ++i) {
      cl_event event = nullptr;
      error = enqueue(launches_[i], &event);
      events.emplace_back(event, api.clReleaseEvent);
    }
    if (error == CL_SUCCESS) error = api.clFinish(device_.queue());
    for (std::size_t i = 0; i < launches_.size() && error == CL_SUCCESS; ++i) {
      error = elapsed(events[i].get(), events[i].get(), elapsed_ns[i]);
    }
    return error == CL_SUCCESS ? result() : fail("clEnqueueNDRangeKernel", error);
  }

  std::int64_t clock_resolution_ns() const override {
    return launches_.empty()
               ? 0
               : static_cast<std::int64_t>(device_.info<std::size_t>(CL_DEVICE_PROFILING_TIMER_RESOLUTION));
  }

  Status failure() const override { return failure_; }

 private:
  // Returns the error number that the kernels stored; 0 if they cannot fail.
  std::int32_t result() {
    if (result_ == nullptr) return 0;
    std::int32_t found = 0;
    failure_ = device_.read(result_, 0, {reinterpret_cast<std::uint8_t*>(&found), sizeof found});
    return failure_.is_ok() ? found : -1;
  }

  std::int32_t fail(const char* function, cl_int error) {
    failure_ = opencl_failure(function, error);
    return -1;
  }

  // Computes the time from the start of the first event's command to the end of the second's.
  cl_int elapsed(cl_event from, cl_event to, std::int64_t& elapsed_ns) const {
    cl_ulong begin = 0, end = 0;
    cl_int error =
        device_.api().clGetEventProfilingInfo(from, CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr);
    if (error == CL_SUCCESS) {
      error = device_.api().clGetEventProfilingInfo(to, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
    }
    elapsed_ns = end > begin ? static_cast<std::int64_t>(end - begin) : 0;
    return error;
  }

  cl_int enqueue(const PreparedLaunch& launch, cl_event* event) {
    return device_.api().clEnqueueNDRangeKernel(device_.queue(), launch.kernel.get(), 3, nullptr, launch.global.data(),
                                                launch.local.data(), 0, nullptr, event);
  }

  Status add(cl_program program, const FunctionInfo& function, const BoundLaunch& launch) {
    const OpenClApi& api = device_.api();
    cl_int error = CL_SUCCESS;
    PreparedLaunch prepared{
        Owned(api.clCreateKernel(program, launch.kernel.c_str(), &error), api.clReleaseKernel), {}, {}, {}};
    if (error != CL_SUCCESS) return opencl_failure("clCreateKernel", error);
    FERRY_TRY(check_launch_limits(device_, function, launch, prepared.kernel.get()));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      prepared.local[axis] = static_cast<std::size_t>(launch.block[axis]);
      prepared.global[axis] = prepared.local[axis] * static_cast<std::size_t>(launch.grid[axis]);
    }
    for (std::size_t i = 0; i < launch.operands.size(); ++i) {
      FERRY_TRY(set(prepared.kernel.get(), static_cast<cl_uint>(i), launch.operands[i]));
    }
    prepared.step = {launch.kernel, launch.grid, launch.block, 0, 0, {}};
    prepared.step.shared_bytes = launch.shared_bytes + shared_memory_of(device_, prepared.kernel.get());
    launches_.push_back(std::move(prepared));
    return {};
  }

  Status set(cl_kernel kernel, cl_uint index, const BoundOperand& operand) {
    cl_int error = CL_SUCCESS;
    if (!operand.is_memory) {
      error = device_.api().clSetKernelArg(kernel, index, operand.bytes, &operand.bits);
    } else {
      FERRY_ASSIGN(const cl_mem buffer, buffer_at(operand.memory));
      error = device_.api().clSetKernelArg(kernel, index, sizeof buffer, &buffer);
    }
    return error == CL_SUCCESS ? Status() : opencl_failure("clSetKernelArg", error);
  }

  // A kernel argument cannot be an offset into a buffer, so a sub-buffer that begins there is created.
  Result<cl_mem> buffer_at(void* memory) {
    if (memory == nullptr) return cl_mem{nullptr};
    const OpenClDevice::Place place = device_.find(memory);
    if (place.offset == 0) return place.buffer;
    const cl_buffer_region region{place.offset, place.bytes - place.offset};
    // There is nothing to read or write in an empty region.
    if (region.size == 0) return cl_mem{nullptr};
    cl_int error = CL_SUCCESS;
    const cl_mem buffer =
        device_.api().clCreateSubBuffer(place.buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    if (error == CL_MISALIGNED_SUB_BUFFER_OFFSET) {
      return Status(ErrorCode::invalid_argument,
                    format("a view at byte %zu of its buffer: this OpenCL device wants a multiple of more bytes (256 "
                           "suits all)",
                           place.offset));
    }
    if (error != CL_SUCCESS) return opencl_failure("clCreateSubBuffer", error);
    sub_buffers_.emplace_back(buffer, device_.api().clReleaseMemObject);
    return buffer;
  }

  OpenClDevice& device_;
  std::uint64_t bytes_;
  void* workspace_ = nullptr;
  void* result_ = nullptr;
  std::vector<Owned<cl_mem>> sub_buffers_;
  std::vector<PreparedLaunch> launches_;
  Status failure_;
};

class OpenClProgram final : public Program {
 public:
  OpenClProgram(OpenClDevice& device, Owned<cl_program> program, std::vector<FunctionInfo> functions)
      : device_(device), program_(std::move(program)), functions_(std::move(functions)) {}

  Result<std::unique_ptr<Workload>> prepare(std::size_t function, std::span<const DeviceArgument> arguments,
                                            const BoundCall& bound) override {
    auto call = std::make_unique<OpenClCall>(device_, bound.call_workspace);
    FERRY_TRY(call->prepare(program_.get(), functions_[function], arguments, bound));
    return std::unique_ptr<Workload>(std::move(call));
  }

 private:
  OpenClDevice& device_;
  Owned<cl_program> program_;
  std::vector<FunctionInfo> functions_;
};

std::string build_log(const OpenClDevice& device, cl_program program) {
  std::size_t bytes = 0;
  device.api().clGetProgramBuildInfo(program, device.id(), CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
  std::string log(bytes, '\0');
  device.api().clGetProgramBuildInfo(program, device.id(), CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
  log.resize(std::min({log.find('\0'), log.size(), kMaxLog}));
  return log;
}

}  // namespace

Result<std::unique_ptr<Program>> load_opencl_program(const ModuleFile& module, OpenClDevice& device) {
  const auto image =
      std::find_if(module.images.begin(), module.images.end(), [](const CodeImage& one) { return one.kind == kImage; });
  if (image == module.images.end()) {
    return Status(ErrorCode::unsupported, "this module has no OpenCL C, which the device '" + device.describe().name +
                                              "' would compile; make it with --target opencl");
  }
  const OpenClApi& api = device.api();
  const char* text = reinterpret_cast<const char*>(image->bytes.data());
  const std::size_t length = image->bytes.size();
  cl_int error = CL_SUCCESS;
  Owned program(api.clCreateProgramWithSource(device.context(), 1, &text, &length, &error), api.clReleaseProgram);
  if (error != CL_SUCCESS) return opencl_failure("clCreateProgramWithSource", error);
  const cl_device_id id = device.id();
  error = api.clBuildProgram(program.get(), 1, &id, kOptions, nullptr, nullptr);
  if (error == CL_BUILD_PROGRAM_FAILURE) {
    return Status(ErrorCode::invalid_argument,
                  "the compiler of '" + device.describe().name + "' says:\n" + build_log(device, program.get()));
  }
  if (error != CL_SUCCESS) return opencl_failure("clBuildProgram", error);
  return std::unique_ptr<Program>(
      std::make_unique<OpenClProgram>(device, std::move(program), module.manifest.functions));
}

}  // namespace ferry::device
