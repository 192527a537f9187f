#include "farm/protocol/lease_id.h"

#include <charconv>

#include "base/format.h"
#include "rpc/secure/noise.h"

namespace ferry::farm {

std::uint64_t random_id() {
  std::uint64_t id = 0;
  while (id == 0) secure::fill_with_random({reinterpret_cast<std::uint8_t*>(&id), sizeof id});
  return id;
}

std::string lease_text(std::uint64_t lease) { return format("%016llx", static_cast<unsigned long long>(lease)); }

Result<std::uint64_t> parse_lease(std::string_view text) {
  std::uint64_t lease = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), lease, 16);
  if (error != std::errc() || end != text.data() + text.size() || lease == 0) {
    return Status(ErrorCode::invalid_argument,
                  "expected a lease of up to 16 hexadecimal digits, got '" + std::string(text) + "'");
  }
  return lease;
}

}  // namespace ferry::farm
