#include "tests/unit/crosscompile/codegen/printed/opencl_device.h"

#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/gpu/extract_kernels.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace ferry::codegen_test {
namespace {

void check(cl_int code, const char* what) {
  if (code != CL_SUCCESS) throw std::runtime_error(std::string("OpenCL: ") + what + " failed: " + std::to_string(code));
}

class Run {
 public:
  Run(const std::string& text, const ir::Function& function, const std::map<std::string, std::int64_t>& sizes,
      void* const* arguments)
      : function_(function), arguments_(arguments) {
    for (std::size_t i = 0; i < function.symbols.size(); ++i)
      values_[function.symbols[i].get()] = ir::Expr(sizes.at(function.symbols[i].as<ir::Var>()->name));
    for (const ir::FunctionParameter& parameter : function.parameters)
      if (parameter.kind == ParameterKind::scalar && parameter.scalar.type() == ir::kIndex)
        values_[parameter.scalar.get()] = ir::Expr(sizes.at(parameter.name));
    cl_platform_id platform = nullptr;
    check(clGetPlatformIDs(1, &platform, nullptr), "finding a platform (is PoCL installed?)");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr), "finding a device");
    cl_int code = 0;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
    check(code, "a context");
    queue_ = clCreateCommandQueue(context_, device_, 0, &code);
    check(code, "a queue");
    const char* texts[] = {text.c_str()};
    program_ = clCreateProgramWithSource(context_, 1, texts, nullptr, &code);
    check(code, "a program");
    if (clBuildProgram(program_, 1, &device_, "-cl-std=CL1.2", nullptr, nullptr) != CL_SUCCESS)
      throw std::runtime_error(messages() + "\n" + text);
  }
  ~Run() {
    for (const auto& [buffer, memory] : buffers_) clReleaseMemObject(memory);
    if (program_ != nullptr) clReleaseProgram(program_);
    if (queue_ != nullptr) clReleaseCommandQueue(queue_);
    if (context_ != nullptr) clReleaseContext(context_);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void all() {
    for (const passes::GpuKernel& launch : passes::extract_kernels(function_)) start(launch);
    check(clFinish(queue_), "running");
    for (std::size_t i = 0; i < function_.parameters.size(); ++i) {
      const ir::Buffer* buffer = function_.parameters[i].buffer.get();
      if (!buffers_.contains(buffer) || bytes_of(*buffer) == 0) continue;
      check(clEnqueueReadBuffer(queue_, buffers_.at(buffer), CL_TRUE, 0, bytes_of(*buffer), arguments_[i], 0, nullptr,
                                nullptr),
            "reading back");
    }
  }

 private:
  std::string messages() const {
    std::size_t size = 0;
    clGetProgramBuildInfo(program_, device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string text(size, '\0');
    clGetProgramBuildInfo(program_, device_, CL_PROGRAM_BUILD_LOG, size, text.data(), nullptr);
    return text;
  }

  std::int64_t value(const ir::Expr& expr) const {
    const ir::Expr simple = passes::simplify(ir::substitute(expr, values_));
    const std::int64_t* known = ir::as_int(simple);
    if (known == nullptr) throw std::runtime_error("a size is not known");
    return *known;
  }

  std::size_t bytes_of(const ir::Buffer& buffer) const {
    std::int64_t count = 1;
    for (const ir::Expr& extent : buffer.shape) count *= std::max<std::int64_t>(value(extent), 0);
    return static_cast<std::size_t>(count) * dtype_bytes(buffer.dtype);
  }

  cl_mem memory_of(const ir::Buffer& buffer) {
    const auto [entry, is_new] = buffers_.try_emplace(&buffer, nullptr);
    if (!is_new) return entry->second;
    const std::size_t bytes = bytes_of(buffer);
    cl_int code = 0;
    entry->second = clCreateBuffer(context_, CL_MEM_READ_WRITE, std::max<std::size_t>(bytes, 1), nullptr, &code);
    check(code, "memory");
    for (std::size_t i = 0; i < function_.parameters.size(); ++i) {
      if (function_.parameters[i].buffer.get() != &buffer || bytes == 0) continue;
      check(clEnqueueWriteBuffer(queue_, entry->second, CL_TRUE, 0, bytes, arguments_[i], 0, nullptr, nullptr),
            "writing");
    }
    return entry->second;
  }

  void start(const passes::GpuKernel& launch) {
    std::size_t global[3], local[3];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      local[axis] = static_cast<std::size_t>(value(launch.block[axis].extent));
      global[axis] = local[axis] * static_cast<std::size_t>(std::max<std::int64_t>(value(launch.grid[axis].extent), 0));
      if (global[axis] == 0) return;
    }
    cl_int code = 0;
    cl_kernel kernel = clCreateKernel(program_, launch.symbol.c_str(), &code);
    check(code, launch.symbol.c_str());
    for (cl_uint i = 0; i < launch.parameters.size(); ++i) {
      const passes::KernelParameter& parameter = launch.parameters[i];
      if (parameter.buffer != nullptr) {
        const cl_mem memory = memory_of(*parameter.buffer);
        check(clSetKernelArg(kernel, i, sizeof(cl_mem), &memory), "an argument");
      } else {
        const std::int64_t number = value(parameter.variable);
        check(clSetKernelArg(kernel, i, sizeof number, &number), "an argument");
      }
    }
    const cl_int started = clEnqueueNDRangeKernel(queue_, kernel, 3, nullptr, global, local, 0, nullptr, nullptr);
    clReleaseKernel(kernel);
    check(started, "launching");
  }

  const ir::Function& function_;
  void* const* arguments_;
  ir::Substitution values_;
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  std::unordered_map<const ir::Buffer*, cl_mem> buffers_;
};

}  // namespace

void run_opencl(const std::string& text, const ir::Function& function, const std::map<std::string, std::int64_t>& sizes,
                void* const* arguments) {
  Run(text, function, sizes, arguments).all();
}

}  // namespace ferry::codegen_test
