#include "crosscompile/target/needed_features.h"

#include "crosscompile/codegen/llvm/cpu/cpu_tables.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/target/cpu_target.h"

namespace ferry {

std::vector<std::string> needed_features(const Target& target) {
  std::vector<std::string> names = detectable_features(target.arch_name);
  std::erase_if(names, [&](const std::string& name) { return !target.has(name); });
  return names;
}

void check_has_server(const Target& target) {
  if (!target.objects_only) return;
  throw CompileError("expected a target that rpc_server runs on, Linux on " +
                     codegen::device_arch_list(" with hard floats") + ", got '" + target.text +
                     "': there is nothing to run a module; 'ferry compile --emit obj' writes an object, " +
                     "--emit asm its assembly");
}

}  // namespace ferry
