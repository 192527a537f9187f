#include "device-runtime/opencl/opencl_program.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "device-runtime/opencl/opencl_stream.h"

namespace ferry::device {
namespace {

constexpr const char* kOptions = "-cl-std=CL1.2";
constexpr std::size_t kMaxLog = 8 << 10;

class OpenClProgram final : public Program {
 public:
  OpenClProgram(OpenClDevice& device, OwnedCl<cl_program> program) : device_(device), program_(std::move(program)) {}

  Result<std::unique_ptr<Stream>> open_stream(const FunctionInfo& function) override {
    return std::unique_ptr<Stream>(std::make_unique<OpenClStream>(device_, program_.get(), function));
  }

 private:
  OpenClDevice& device_;
  OwnedCl<cl_program> program_;
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
  const auto image = std::find_if(module.images.begin(), module.images.end(),
                                  [](const CodeImage& one) { return one.kind == ImageKind::opencl_c; });
  if (image == module.images.end()) {
    return Status(ErrorCode::unsupported, "this module has no OpenCL C, which the device '" + device.describe().name +
                                              "' would compile; make it with --target opencl");
  }
  const OpenClApi& api = device.api();
  const char* text = reinterpret_cast<const char*>(image->bytes.data());
  const std::size_t length = image->bytes.size();
  cl_int error = CL_SUCCESS;
  OwnedCl program(api.clCreateProgramWithSource(device.context(), 1, &text, &length, &error), api.clReleaseProgram);
  if (error != CL_SUCCESS) return opencl_failure("clCreateProgramWithSource", error);
  const cl_device_id id = device.id();
  error = api.clBuildProgram(program.get(), 1, &id, kOptions, nullptr, nullptr);
  if (error == CL_BUILD_PROGRAM_FAILURE) {
    return Status(ErrorCode::invalid_argument,
                  "the compiler of '" + device.describe().name + "' says:\n" + build_log(device, program.get()));
  }
  if (error != CL_SUCCESS) return opencl_failure("clBuildProgram", error);
  return std::unique_ptr<Program>(std::make_unique<OpenClProgram>(device, std::move(program)));
}

}  // namespace ferry::device
