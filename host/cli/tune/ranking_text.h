// Prints how the cost model ranks a kernel's schedules, for people and programs.
#pragma once

#include <string>

#include "host/text/json.h"
#include "host/tune/static_ranking.h"

namespace ferry::cli {

std::string ranking_text(const tune::StaticRanking& ranking);
text::Json ranking_json(const tune::StaticRanking& ranking);

}  // namespace ferry::cli
