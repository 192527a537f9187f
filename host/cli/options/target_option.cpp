#include "host/cli/options/target_option.h"

namespace ferry::cli {

void add_target_option(CLI::App& command, std::string& target) {
  command
      .add_option("--target", target, "What to compile for (default: what the device says it is); see 'ferry targets'")
      ->type_name("TARGET");
}

}  // namespace ferry::cli
