#include "host/cli/options/terminal.h"

#include <cstdio>
#include <memory>

#include "host/cli/options/compile_deadline.h"
#include "host/cli/output/progress.h"

namespace ferry::cli {

Observer terminal(double compile_deadline) {
  return {.message =
              [](const std::string& line) {
                Progress::clear();
                fprintf(stderr, "ferry: %s\n", line.c_str());
              },
          .step = [](const std::string& what) { return std::make_shared<Progress>(what); },
          .compilation =
              [compile_deadline](const std::string& file) {
                return std::make_shared<CompileDeadline>(compile_deadline, file);
              }};
}

}  // namespace ferry::cli
