#include "host/cli/options/target_option.h"

#include <algorithm>

#include "host/cli/options/option_checks.h"

namespace ferry::cli {

void add_target_option(CLI::App& command, std::string& target) {
  command
      .add_option("--target", target, "What to compile for (default: what the device says it is); see 'ferry targets'")
      ->type_name("TARGET")
      ->check(some_text("a target"));
}

void add_verbose_option(CLI::App& command, bool& verbose) {
  command.add_flag("-v,--verbose", verbose, "Print the target with all its features")->group("Output");
}

std::string target_text(const std::string& target, bool verbose) {
  const std::size_t end = std::min(target.find(" -mattr="), target.find(" -num-cores="));
  if (verbose || !target.starts_with("llvm ") || end == std::string::npos) return target;
  return target.substr(0, end) + " ...";
}

}  // namespace ferry::cli
