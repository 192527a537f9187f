// The state of a farm in Prometheus's text format, version 0.0.4.
#pragma once

#include <string>

#include "farm/api/farm.h"

namespace ferry::farm::http {

inline constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

std::string metrics_text(const FarmNumbers& numbers);

}  // namespace ferry::farm::http
