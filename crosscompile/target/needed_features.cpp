#include "crosscompile/target/needed_features.h"

#include <algorithm>

namespace ferry {

std::vector<std::string> needed_features(const Target& target) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& arch, const std::string& name) {
    if (arch == target.arch && target.has(name)) names.push_back(name);
  };
#define FERRY_FEATURE(arch, name) add(#arch, name);
#include "rpc/abi/features.def"
#undef FERRY_FEATURE
  // features.def is in no order that could be relied on.
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ferry
