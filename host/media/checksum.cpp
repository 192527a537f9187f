#include "host/media/checksum.h"

#include <array>

namespace ferry::media {

std::uint32_t checksum_of(std::span<const std::uint8_t> bytes) {
  static const auto kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      table[i] = i;
      for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1 ^ ((table[i] & 1) != 0 ? 0xedb88320U : 0);
    }
    return table;
  }();
  std::uint32_t sum = ~0U;
  for (const std::uint8_t byte : bytes) sum = kTable[(sum ^ byte) & 0xff] ^ sum >> 8;
  return ~sum;
}

}  // namespace ferry::media
