#include "device-runtime/device/device.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace ferry::device {
namespace {

constexpr std::uint64_t kPieceBytes = 4 << 20;

}  // namespace

Status Device::write(void* memory, std::uint64_t offset, std::span<const std::uint8_t> from) {
  if (!from.empty()) std::memcpy(host_address(memory) + offset, from.data(), from.size());
  return {};
}

Status Device::read(void* memory, std::uint64_t offset, std::span<std::uint8_t> into) {
  if (!into.empty()) std::memcpy(into.data(), host_address(memory) + offset, into.size());
  return {};
}

Status Device::write_pieces(void* memory, std::uint64_t offset, std::uint64_t bytes, const FillPiece& fill) {
  if (std::uint8_t* host = host_address(memory); host != nullptr) {
    return fill({host + offset, static_cast<std::size_t>(bytes)});
  }
  std::vector<std::uint8_t> staging(static_cast<std::size_t>(std::min(bytes, kPieceBytes)));
  for (std::uint64_t done = 0; done < bytes; done += staging.size()) {
    const std::span piece(staging.data(),
                          static_cast<std::size_t>(std::min<std::uint64_t>(staging.size(), bytes - done)));
    FERRY_TRY(fill(piece));
    FERRY_TRY(write(memory, offset + done, piece));
  }
  return {};
}

Status Device::read_pieces(void* memory, std::uint64_t offset, std::uint64_t bytes, const TakePiece& take) {
  if (const std::uint8_t* host = host_address(memory); host != nullptr) {
    return take({host + offset, static_cast<std::size_t>(bytes)});
  }
  std::vector<std::uint8_t> staging(static_cast<std::size_t>(std::min(bytes, kPieceBytes)));
  for (std::uint64_t done = 0; done < bytes; done += staging.size()) {
    const std::span piece(staging.data(),
                          static_cast<std::size_t>(std::min<std::uint64_t>(staging.size(), bytes - done)));
    FERRY_TRY(read(memory, offset + done, piece));
    FERRY_TRY(take(piece));
  }
  return {};
}

Status Device::fill(void* memory, FillKind kind, std::uint64_t seed, DType dtype, std::uint64_t elements) {
  const std::uint64_t element = dtype_bytes(dtype);
  std::uint64_t first = 0;
  return write_pieces(memory, 0, elements * element, [&](std::span<std::uint8_t> piece) {
    const std::uint64_t count = piece.size() / element;
    ferry::fill(kind, seed, dtype, first, count, piece.data());
    first += count;
    return Status();
  });
}

Status copy_between(Device& to, void* destination, std::uint64_t destination_offset, Device& from, void* source,
                    std::uint64_t source_offset, std::uint64_t bytes) {
  if (bytes == 0) return {};
  if (std::uint8_t* host = to.host_address(destination); host != nullptr)
    return from.read(source, source_offset, {host + destination_offset, static_cast<std::size_t>(bytes)});
  return from.read_pieces(source, source_offset, bytes, [&](std::span<const std::uint8_t> piece) {
    const std::uint64_t at = destination_offset;
    destination_offset += piece.size();
    return to.write(destination, at, piece);
  });
}

}  // namespace ferry::device
