#include "host/cli/options/output_option.h"

#include "ferry/error.h"

namespace ferry::cli {

std::map<std::string, std::string> parse_outputs(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> outputs;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      throw UsageError("--out " + text + ": expected NAME=@FILE.npy");
    const std::string file = text.substr(equals + 1);
    outputs[text.substr(0, equals)] = file.starts_with('@') ? file.substr(1) : file;
  }
  return outputs;
}

}  // namespace ferry::cli
