#include "host/cli/options/terminal.h"

#include <memory>

#include "host/cli/options/compile_deadline.h"
#include "host/text/progress.h"
#include "host/text/style.h"

namespace ferry::cli {

Observer terminal(double compile_deadline) {
  return {.message = [](const std::string& line) { text::print_note(line); },
          .step = [](const std::string& what) { return std::make_shared<text::Progress>(what); },
          .compilation =
              [compile_deadline](const std::string& file) {
                return std::make_shared<CompileDeadline>(compile_deadline, file);
              }};
}

}  // namespace ferry::cli
