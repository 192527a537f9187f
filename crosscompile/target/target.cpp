#include "ferry/target/target.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ferry {

void Target::set_arch(std::string name) {
  arch = arch_named(name);
  arch_name = std::move(name);
}

void Target::set_host(const Target& beside) {
  host = std::make_shared<const Target>(beside);
  text += " -host=" + beside.text;
}

bool Target::has(const std::string& feature) const {
  return std::binary_search(features.begin(), features.end(), feature);
}

int Target::capability() const {
  int lowest = 0;
  for (const std::string& gpu : gpus) {
    const int one = std::atoi(gpu.c_str() + std::min<std::size_t>(gpu.size(), 3));
    lowest = lowest == 0 ? one : std::min(lowest, one);
  }
  return lowest;
}

}  // namespace ferry
