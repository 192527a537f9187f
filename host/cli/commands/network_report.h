// Prints what is known of a network that is not compiled.
#pragma once

#include <string>

#include "host/compiler/api/network.h"

namespace ferry::cli {

void print_network(const NetworkSummary& network, const std::string& file, bool json);

}  // namespace ferry::cli
