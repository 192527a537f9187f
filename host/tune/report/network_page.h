// A page about the search for the schedules of a network: what became of each kernel, and of the whole.
#pragma once

#include "host/tune/network/tune_network.h"
#include "host/tune/report/tune_page.h"

#include <string>
#include <vector>

namespace ferry::tune {

struct NetworkPage {
  const TunedNetwork& tuned;
  const std::vector<ShownTrial>& trials;
  std::string version;  // ferry's
};

// Returns the page, which needs and runs nothing else.
std::string network_page(const NetworkPage& page);

}  // namespace ferry::tune
