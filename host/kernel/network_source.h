// Parses how a user names a network.
#pragma once

#include <string>
#include <vector>

#include "ferry/kernel/option_error.h"
#include "host/compiler/api/network.h"

namespace ferry {

// Takes sizes as "N=4,S=128" and inputs that the user binds as "shape=@shape.npy". Throws OptionError (`size_option`,
// binding) that shows the text and what was expected, and UsageError for a file that cannot be read.
NetworkSource network_source(const std::string& file, const std::vector<std::string>& sizes,
                             const std::vector<std::string>& bindings, Option size_option = Option::size);

}  // namespace ferry
