#include "host/cli/options/target_option.h"

#include <cstdio>
#include <vector>

#include "crosscompile/compile.h"
#include "crosscompile/target/resolve.h"

namespace ferry::cli {

void add_target_option(CLI::App& command, std::string& target) {
  command
      .add_option("--target", target, "What to compile for (default: what the device says it is); see 'ferry targets'")
      ->type_name("TARGET");
}

Target resolve_with_notes(const std::string& text) {
  std::vector<std::string> notes;
  Target target = resolve_target(text, &notes);
  for (const std::string& note : notes) fprintf(stderr, "ferry: note: %s\n", note.c_str());
  return target;
}

Target target_for(const Device& device, const std::string& text, const KernelSource& source) {
  if (source.module) {
    Target target;
    target.arch = source.module->manifest().arch;
    target.text = source.module->manifest().target;
    if (target.is_gpu() || !has_compiler()) return target;
  }
  return text.empty() ? device.target() : resolve_with_notes(text);
}

std::vector<std::string> devices_for(const std::string& target, const KernelSource& source) {
  if (!target.empty()) {
    const Target resolved = resolve_target(target);
    return resolved.is_gpu() ? std::vector{resolved.device} : std::vector<std::string>{};
  }
  if (!source.module) return {};
  const std::string& arch = source.module->manifest().arch;
  return arch == "cuda" || arch == "opencl" ? std::vector{arch} : std::vector<std::string>{};
}

}  // namespace ferry::cli
