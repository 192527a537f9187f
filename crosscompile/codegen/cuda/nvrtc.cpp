#include "crosscompile/codegen/cuda/nvrtc.h"

#include "crosscompile/codegen/cuda/cuda_files.h"
#include "crosscompile/ir/error.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>

namespace ferry::codegen::cuda {
namespace {

// The part of nvrtc.h that is used.
using Program = struct OpaqueProgram*;
using ResultCode = int;
constexpr ResultCode kSuccess = 0;
constexpr ResultCode kCompilation = 6;

struct Functions {
  ResultCode (*create)(Program*, const char* text, const char* name, int headers, const char* const*,
                       const char* const*) = nullptr;
  ResultCode (*destroy)(Program*) = nullptr;
  ResultCode (*compile)(Program, int count, const char* const* options) = nullptr;
  ResultCode (*log_size)(Program, std::size_t*) = nullptr;
  ResultCode (*log)(Program, char*) = nullptr;
  ResultCode (*cubin_size)(Program, std::size_t*) = nullptr;
  ResultCode (*cubin)(Program, char*) = nullptr;
  ResultCode (*version)(int* major, int* minor) = nullptr;
  ResultCode (*gpu_count)(int*) = nullptr;
  ResultCode (*gpus)(int*) = nullptr;
  const char* (*error_text)(ResultCode) = nullptr;
};

template <class F>
void load(void* library, const char* name, const std::string& path, F*& into) {
  into = reinterpret_cast<F*>(dlsym(library, name));
  if (into == nullptr)
    throw CompileError("expected an NVRTC of CUDA 11.2 or later, got one without " + std::string(name) + ": " + path);
}

Functions load_functions() {
  const std::string path = expect_cuda_file(CudaFile::nvrtc);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw CompileError("NVRTC cannot be loaded: " + std::string(dlerror()));
  Functions f;
  load(library, "nvrtcCreateProgram", path, f.create);
  load(library, "nvrtcDestroyProgram", path, f.destroy);
  load(library, "nvrtcCompileProgram", path, f.compile);
  load(library, "nvrtcGetProgramLogSize", path, f.log_size);
  load(library, "nvrtcGetProgramLog", path, f.log);
  load(library, "nvrtcGetCUBINSize", path, f.cubin_size);
  load(library, "nvrtcGetCUBIN", path, f.cubin);
  load(library, "nvrtcVersion", path, f.version);
  load(library, "nvrtcGetNumSupportedArchs", path, f.gpu_count);
  load(library, "nvrtcGetSupportedArchs", path, f.gpus);
  load(library, "nvrtcGetErrorString", path, f.error_text);
  return f;
}

// Loads the library on first use; once loaded, it stays until the process ends.
const Functions& nvrtc() {
  static const Functions functions = load_functions();
  return functions;
}

void expect(ResultCode code, const char* what) {
  if (code != kSuccess) throw CompileError(std::string("NVRTC: ") + what + ": " + nvrtc().error_text(code));
}

class Compilation {
 public:
  Compilation(const std::string& text, const std::string& name) {
    expect(nvrtc().create(&program_, text.c_str(), name.c_str(), 0, nullptr, nullptr), "a program");
  }
  ~Compilation() { nvrtc().destroy(&program_); }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  ResultCode compile(const std::vector<const char*>& options) {
    return nvrtc().compile(program_, static_cast<int>(options.size()), options.data());
  }
  std::string log() const {
    std::size_t size = 0;
    expect(nvrtc().log_size(program_, &size), "messages");
    std::string text(size, '\0');
    expect(nvrtc().log(program_, text.data()), "messages");
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
    return text;
  }
  std::vector<std::uint8_t> cubin() const {
    std::size_t size = 0;
    expect(nvrtc().cubin_size(program_, &size), "machine code");
    std::vector<std::uint8_t> bytes(size);
    expect(nvrtc().cubin(program_, reinterpret_cast<char*>(bytes.data())), "machine code");
    return bytes;
  }

 private:
  Program program_ = nullptr;
};

// Returns the compute capabilities as numbers: 90 for sm_90.
std::vector<int> known_gpus() {
  int count = 0;
  expect(nvrtc().gpu_count(&count), "the GPUs it knows");
  std::vector<int> known(static_cast<std::size_t>(count));
  expect(nvrtc().gpus(known.data()), "the GPUs it knows");
  return known;
}

void expect_known(const std::string& gpu) {
  if (nvrtc_knows(gpu)) return;
  std::string list;
  for (const int one : known_gpus()) list += (list.empty() ? "sm_" : ", sm_") + std::to_string(one);
  throw CompileError("expected a GPU that NVRTC " + nvrtc_version() + " knows (" + list + "), got " + gpu +
                     "; -compiler=llvm makes PTX for it");
}

}  // namespace

bool nvrtc_knows(const std::string& gpu) {
  int number = 0;
  const char* begin = gpu.c_str() + std::min<std::size_t>(gpu.size(), 3);
  std::from_chars(begin, gpu.c_str() + gpu.size(), number);
  const std::vector<int> known = known_gpus();
  return std::find(known.begin(), known.end(), number) != known.end();
}

std::string nvrtc_version() {
  int major = 0, minor = 0;
  expect(nvrtc().version(&major, &minor), "its version");
  return std::to_string(major) + "." + std::to_string(minor);
}

std::vector<std::uint8_t> compile_cuda(const std::string& text, const std::string& gpu, const std::string& name) {
  expect_known(gpu);
  Compilation compilation(text, name);
  const std::string architecture = "--gpu-architecture=" + gpu;
  const ResultCode code = compilation.compile({architecture.c_str(), "--std=c++17"});
  if (code == kCompilation) throw CompileError("NVRTC refuses " + name + " for " + gpu + ":\n" + compilation.log());
  expect(code, "compilation");
  return compilation.cubin();
}

}  // namespace ferry::codegen::cuda
