#include "tests/boards/hostile_kernels.h"

#include <fstream>
#include <iterator>

#include "ferry/runtime_api.h"
#include "module/module_file.h"
#include "tests/paths.h"
#include "tests/unit/device-runtime/support/compile_kernel.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::test {
namespace {

std::string source() {
  std::ifstream file(FERRY_SOURCE_DIR "/tests/boards/hostile_kernels.c");
  return {std::istreambuf_iterator<char>(file), {}};
}

FunctionInfo function(std::string name, std::vector<ParameterInfo> parameters) {
  FunctionInfo info;
  info.name = name;
  if (!parameters.empty()) info.symbols = {"n"};
  info.parameters = std::move(parameters);
  set_native_code(info, {std::move(name), {}, {}});
  return info;
}

}  // namespace

const std::vector<std::uint8_t>& hostile_file(const std::string& arch) {
  static const std::vector<std::uint8_t> file = [&] {
    const ParameterInfo results = tensor_parameter("results", Direction::inout, DType::i64);
    ModuleFile module;
    module.manifest.abi_version = FERRY_ABI_VERSION;
    module.manifest.devices = {{"cpu", arch, {}}};
    module.manifest.target = "tests";
    module.manifest.functions = {
        function("say", {}),
        function("overrun",
                 {scalar_parameter("bytes", DType::i64), tensor_parameter("A", Direction::inout, DType::u8)}),
        function("probe", {results}),
        function("bomb", {results}),
        function("threads", {scalar_parameter("count", DType::i64), results}),
    };
    KernelOptions options;
    options.arch = arch;
    options.linker = Linker::gnu;
    module.images.push_back({ImageKind::elf, compile_kernel(source(), options)});
    return write_module(module);
  }();
  return file;
}

}  // namespace ferry::test
