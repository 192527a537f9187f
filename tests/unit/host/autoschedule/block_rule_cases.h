// Programs that the rules block_sums and block_dots match.
#pragma once

#include "tests/unit/host/autoschedule/rule_cases.h"

#include <cstdint>
#include <vector>

namespace ferry::test {

void add_block_cases(std::vector<RuleCase>& cases, std::uint32_t bits);

}  // namespace ferry::test
