#include "host/api/own_compiler.h"

#include <memory>

#include "ferry/compile.h"
#if FERRY_COMPILER
#include "host/compiler/llvm/llvm_compiler.h"
#endif

namespace ferry {

const Compiler& expect_own_compiler() {
  if (own_compiler() == nullptr) {
    throw Error(ErrorCode::unsupported,
                "compiling needs a compiler, which this ferry is built without: install the wheel 'ferry' in place of "
                "'ferry-client', or load a module that was compiled elsewhere");
  }
  return *own_compiler();
}

#if FERRY_COMPILER

const Compiler* own_compiler() {
  static const std::unique_ptr<const Compiler> compiler = make_compiler();
  return compiler.get();
}

#else

const Compiler* own_compiler() { return nullptr; }

// Those functions of ferry/compile.h that Python's package calls.
Target target(std::string_view text) { return expect_own_compiler().resolve_target(text).value; }
Target target_of(const Device& device) { return expect_own_compiler().target_of(device.facts()); }
std::string source_line(std::span<const std::uint8_t>, std::uint64_t) { return {}; }
CompiledModule compile(std::string_view, const Target&, std::string_view) {
  (void)expect_own_compiler();
  return CompiledModule(std::vector<std::uint8_t>());
}
CompiledModule compile(std::string_view, const Target&, const ScheduleText&, std::string_view) {
  (void)expect_own_compiler();
  return CompiledModule(std::vector<std::uint8_t>());
}

#endif

}  // namespace ferry
