// Leases as people write them: the id as 16 hexadecimal digits, because programs that read JSON keep numbers of 53 bits
// only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace ferry::farm {

std::string lease_text(std::uint64_t lease);
// invalid_argument says what was expected.
Result<std::uint64_t> parse_lease(std::string_view text);

}  // namespace ferry::farm
