// Ids are random, so that no two of a farm are equal. People write those of leases as 16 hexadecimal digits, because
// programs that read JSON keep numbers of 53 bits only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace ferry::farm {

// Never 0.
std::uint64_t random_id();

std::string lease_text(std::uint64_t lease);
// invalid_argument says what was expected.
Result<std::uint64_t> parse_lease(std::string_view text);

}  // namespace ferry::farm
