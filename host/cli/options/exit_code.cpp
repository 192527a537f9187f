#include "host/cli/options/exit_code.h"

namespace ferry::cli {

std::string exit_codes_text() {
  std::string text = "Exit codes:";
#define FERRY_LINE(number, name, meaning) text += "\n  " #number "  " meaning;
  FERRY_EXIT_CODES(FERRY_LINE)
#undef FERRY_LINE
  return text;
}

}  // namespace ferry::cli
