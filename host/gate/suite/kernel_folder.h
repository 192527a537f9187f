// Finds the files of a folder that may be kernels.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ferry::gate {

struct KernelFolder {
  std::vector<std::string> kernels;           // paths relative to the folder, in alphabetical order
  std::map<std::string, std::size_t> others;  // the number of other files, by extension
};

// Looks into folders below too, except those whose name begins with a dot; links to folders are not followed. Throws
// UsageError if the folder cannot be read or holds too much.
KernelFolder find_kernels(const std::string& folder);

}  // namespace ferry::gate
