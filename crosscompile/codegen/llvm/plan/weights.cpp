#include "crosscompile/codegen/llvm/plan/weights.h"

#include "crosscompile/codegen/llvm/plan/c_interface.h"

namespace ferry::codegen {

std::vector<std::uint64_t> blob_places(const Manifest& manifest) {
  std::vector<std::uint64_t> places{0};
  for (const Blob& blob : manifest.blobs)
    places.push_back((places.back() + blob.bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment);
  return places;
}

std::uint64_t checksum(std::span<const std::uint8_t> bytes) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < 8; ++i) word |= std::uint64_t{bytes[at + i]} << (8 * i);
    sum = (sum ^ word) * 0x100000001b3;
    sum ^= sum >> 29;
  }
  return sum;
}

}  // namespace ferry::codegen
