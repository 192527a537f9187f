// NVRTC's functions, which return PTX in place of machine code: ferry's CUDA C then runs in the interpreter of
// crosscompile/ptx. FERRY_REAL_NVRTC names the library that does the work; FERRY_NVRTC_GPUS, "75,80", lists the GPUs
// that it reports as supported, to simulate other versions.
#include <dlfcn.h>
#include <glob.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

void* real(const char* name) {
  static void* const library = [] {
    const char* path = std::getenv("FERRY_REAL_NVRTC");
    if (path == nullptr) return static_cast<void*>(nullptr);
    // What NVRTC itself loads when it compiles lies beside it, where a confined process does not look.
    const std::string beside = std::string(path).substr(0, std::string(path).rfind('/')) + "/libnvrtc-builtins.so.*";
    glob_t found{};
    if (glob(beside.c_str(), 0, nullptr, &found) == 0) dlopen(found.gl_pathv[0], RTLD_NOW | RTLD_GLOBAL);
    globfree(&found);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }();
  void* const function = library == nullptr ? nullptr : dlsym(library, name);
  if (function == nullptr) {
    std::fprintf(stderr, "expected the NVRTC that has %s in FERRY_REAL_NVRTC\n", name);
    std::abort();
  }
  return function;
}

template <class... Arguments>
int forward(const char* name, Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(real(name))(arguments...);
}

// Returns the GPUs of FERRY_NVRTC_GPUS, "75,80", which replace the real library's list.
std::vector<int> named_gpus() {
  std::vector<int> gpus;
  const char* list = std::getenv("FERRY_NVRTC_GPUS");
  for (const char* at = list; at != nullptr && *at != '\0';) {
    char* end = nullptr;
    gpus.push_back(static_cast<int>(std::strtol(at, &end, 10)));
    at = *end == ',' ? end + 1 : end;
  }
  return gpus;
}

}  // namespace

#define FERRY_API extern "C" [[gnu::visibility("default")]]

FERRY_API int nvrtcCreateProgram(void** program, const char* text, const char* name, int headers,
                                 const char* const* contents, const char* const* names) {
  return forward("nvrtcCreateProgram", program, text, name, headers, contents, names);
}
FERRY_API int nvrtcDestroyProgram(void** program) { return forward("nvrtcDestroyProgram", program); }
// Replaces sm_80 by compute_80, for which NVRTC stops before the assembler.
FERRY_API int nvrtcCompileProgram(void* program, int count, const char* const* options) {
  const std::string real_code = "--gpu-architecture=sm_";
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) {
    const std::string option = options[i];
    const bool is_code = option.compare(0, real_code.size(), real_code) == 0;
    texts.push_back(is_code ? "--gpu-architecture=compute_" + option.substr(real_code.size()) : option);
  }
  std::vector<const char*> changed;
  for (const std::string& text : texts) changed.push_back(text.c_str());
  return forward("nvrtcCompileProgram", program, count, static_cast<const char* const*>(changed.data()));
}
FERRY_API int nvrtcGetProgramLogSize(void* program, std::size_t* bytes) {
  return forward("nvrtcGetProgramLogSize", program, bytes);
}
FERRY_API int nvrtcGetProgramLog(void* program, char* log) { return forward("nvrtcGetProgramLog", program, log); }
FERRY_API int nvrtcGetCUBINSize(void* program, std::size_t* bytes) {
  return forward("nvrtcGetPTXSize", program, bytes);
}
FERRY_API int nvrtcGetCUBIN(void* program, char* code) { return forward("nvrtcGetPTX", program, code); }
FERRY_API int nvrtcGetPTXSize(void* program, std::size_t* bytes) { return forward("nvrtcGetPTXSize", program, bytes); }
FERRY_API int nvrtcGetPTX(void* program, char* code) { return forward("nvrtcGetPTX", program, code); }
FERRY_API int nvrtcAddNameExpression(void* program, const char* expression) {
  return forward("nvrtcAddNameExpression", program, expression);
}
FERRY_API int nvrtcGetLoweredName(void* program, const char* expression, const char** name) {
  return forward("nvrtcGetLoweredName", program, expression, name);
}
FERRY_API int nvrtcVersion(int* major, int* minor) { return forward("nvrtcVersion", major, minor); }
FERRY_API int nvrtcGetNumSupportedArchs(int* count) {
  if (named_gpus().empty()) return forward("nvrtcGetNumSupportedArchs", count);
  *count = static_cast<int>(named_gpus().size());
  return 0;
}
FERRY_API int nvrtcGetSupportedArchs(int* list) {
  const std::vector<int> named = named_gpus();
  if (named.empty()) return forward("nvrtcGetSupportedArchs", list);
  std::copy(named.begin(), named.end(), list);
  return 0;
}
FERRY_API const char* nvrtcGetErrorString(int code) {
  return reinterpret_cast<const char* (*)(int)>(real("nvrtcGetErrorString"))(code);
}
