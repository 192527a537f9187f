#include "host/cli/options/output_option.h"

#include "ferry/error.h"

namespace ferry::cli {

std::map<std::string, std::string> parse_outputs(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> outputs;
  for (const std::string& text : texts) {
    // A name may contain '=' itself.
    const std::size_t mark = text.find("=@");
    const std::size_t equals = mark == std::string::npos ? text.find('=') : mark;
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      throw UsageError("--out " + text + ": expected NAME=@FILE.npy");
    const std::string file = text.substr(equals + 1);
    const std::string name = text.substr(0, equals);
    if (!outputs.emplace(name, file.starts_with('@') ? file.substr(1) : file).second)
      throw UsageError("--out " + text + ": expected one file for " + name + ", got a second one");
  }
  return outputs;
}

}  // namespace ferry::cli
