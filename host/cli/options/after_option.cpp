#include "host/cli/options/after_option.h"

namespace ferry::cli {

void add_after_option(CLI::App& command, std::string& after, const std::string& help) {
  command.add_option("--after", after, help)->type_name("PASS");
}

}  // namespace ferry::cli
