#include "crosscompile/target/target.h"

#include <algorithm>

namespace ferry {

bool Target::has(const std::string& feature) const {
  return std::binary_search(features.begin(), features.end(), feature);
}

}  // namespace ferry
