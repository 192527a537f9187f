// --out and --expect: the files that outputs are written to, or compared with.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ferry::cli {

// Parses "C=@c.npy" or "C=c.npy" and returns the file of each output. Throws UsageError that shows the text and what
// was expected.
std::map<std::string, std::string> parse_outputs(const std::vector<std::string>& texts);

// What outputs are expected to be.
struct ExpectedFiles {
  std::map<std::string, std::string> files;  // by output
  std::string folder;                        // with a file for each; empty: none
};
// Parses "C=@c.npy" or the name of a folder. Throws as above.
ExpectedFiles parse_expected(const std::vector<std::string>& texts);

}  // namespace ferry::cli
