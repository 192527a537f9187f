// --out: the files that outputs are written to.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ferry::cli {

// Parses "C=@c.npy" or "C=c.npy" and returns the file of each output. Throws UsageError that shows the text and what
// was expected.
std::map<std::string, std::string> parse_outputs(const std::vector<std::string>& texts);

}  // namespace ferry::cli
