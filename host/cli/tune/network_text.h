// The text that 'ferry tune' prints for a network.
#pragma once

#include <string>

#include "host/text/json.h"
#include "host/tune/network/tune_network.h"

namespace ferry::cli {

std::string network_text(const tune::TunedNetwork& tuned, const std::string& records);
text::Json network_json(const tune::TunedNetwork& tuned, const std::string& records);

}  // namespace ferry::cli
