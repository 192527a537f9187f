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
constexpr ResultCode kInvalidOption = 5;
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
  ResultCode (*ptx_size)(Program, std::size_t*) = nullptr;
  ResultCode (*ptx)(Program, char*) = nullptr;
  ResultCode (*add_expression)(Program, const char*) = nullptr;
  ResultCode (*symbol)(Program, const char* expression, const char**) = nullptr;
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
  load(library, "nvrtcGetPTXSize", path, f.ptx_size);
  load(library, "nvrtcGetPTX", path, f.ptx);
  load(library, "nvrtcAddNameExpression", path, f.add_expression);
  load(library, "nvrtcGetLoweredName", path, f.symbol);
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
  explicit Compilation(const CudaText& text) {
    std::vector<const char*> names, texts;
    for (const CudaHeader& header : text.headers) {
      names.push_back(header.name.c_str());
      texts.push_back(header.text.c_str());
    }
    expect(nvrtc().create(&program_, text.text.c_str(), text.name.c_str(), static_cast<int>(names.size()), texts.data(),
                          names.data()),
           "a program");
    for (const std::string& one : text.expressions) expect(nvrtc().add_expression(program_, one.c_str()), "a name");
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
  std::vector<std::uint8_t> code(CudaForm form) const {
    const bool is_ptx = form == CudaForm::ptx;
    std::size_t size = 0;
    expect((is_ptx ? nvrtc().ptx_size : nvrtc().cubin_size)(program_, &size), "machine code");
    std::vector<std::uint8_t> bytes(size);
    expect((is_ptx ? nvrtc().ptx : nvrtc().cubin)(program_, reinterpret_cast<char*>(bytes.data())), "machine code");
    return bytes;
  }
  std::string symbol(const std::string& expression) const {
    const char* name = nullptr;
    expect(nvrtc().symbol(program_, expression.c_str(), &name), "a symbol");
    return name;
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

void load_nvrtc() { nvrtc_version(); }

CudaCode compile_cuda(const CudaText& text, const std::string& gpu, CudaForm form) {
  expect_known(gpu);
  Compilation compilation(text);
  const std::string prefix = form == CudaForm::ptx ? "compute_" : "sm_";
  const std::string architecture = "--gpu-architecture=" + prefix + gpu.substr(std::string("sm_").size());
  std::vector<const char*> options = {architecture.c_str(), "--std=c++17"};
  for (const std::string& one : text.options) options.push_back(one.c_str());
  const ResultCode code = compilation.compile(options);
  if (code == kCompilation)
    throw CompileError("NVRTC refuses " + text.name + " for " + gpu + ":\n" + compilation.log());
  if (code == kInvalidOption) throw CompileError("NVRTC: " + compilation.log());
  expect(code, "compilation");
  CudaCode made{compilation.code(form)};
  for (const std::string& one : text.expressions) made.symbols.push_back(compilation.symbol(one));
  return made;
}

}  // namespace ferry::codegen::cuda
