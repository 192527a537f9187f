#include "crosscompile/target/needed_features.h"

#include "crosscompile/ir/error.h"

#include <algorithm>

namespace ferry {

std::vector<std::string> needed_features(const Target& target) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& arch, const std::string& name) {
    if (arch == target.arch_name && target.has(name)) names.push_back(name);
  };
#define FERRY_FEATURE(arch, name) add(#arch, name);
#include "module/features.def"
#undef FERRY_FEATURE
  // The order of features.def is unspecified.
  std::sort(names.begin(), names.end());
  return names;
}

void require_device(const Target& target) {
  if (!target.objects_only) return;
  throw CompileError(
      "expected a target that rpc_server runs on, Linux on x86_64, armv7 with hard floats, aarch64 or "
      "riscv64, got '" +
      target.text + "': there is nothing to run a module; 'ferry compile --emit obj' writes an object, " +
      "--emit asm its assembly");
}

}  // namespace ferry
