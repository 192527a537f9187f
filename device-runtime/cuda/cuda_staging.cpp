#include "device-runtime/cuda/cuda_staging.h"

#include <algorithm>

namespace ferry::device {
namespace {

constexpr std::uint64_t kPieceBytes = 4 << 20;

std::size_t piece_at(std::uint64_t done, std::uint64_t bytes) {
  return static_cast<std::size_t>(std::min(kPieceBytes, bytes - done));
}

}  // namespace

CudaStaging::~CudaStaging() {
  for (const Piece& piece : pieces_) {
    if (piece.copied != nullptr) api_.event_destroy(piece.copied);
    if (piece.memory != nullptr) api_.pinned_free(piece.memory);
  }
}

Status CudaStaging::prepare() {
  for (Piece& piece : pieces_) {
    if (piece.memory == nullptr) {
      const CuResult error = api_.pinned_take(&piece.memory, kPieceBytes, 0);
      if (error != kCuSuccess) return cuda_failure(api_, "cuMemHostAlloc", error);
    }
    if (piece.copied == nullptr) {
      const CuResult error = api_.event_create(&piece.copied, kCuEventDisableTiming);
      if (error != kCuSuccess) return cuda_failure(api_, "cuEventCreate", error);
    }
  }
  return {};
}

// Waits until no copy uses the pieces any more, so that they can be reused.
Status CudaStaging::finish(Status status) {
  const CuResult error = api_.stream_wait(stream_);
  if (status.is_ok() && error != kCuSuccess) return cuda_failure(api_, "cuStreamSynchronize", error);
  return status;
}

Status CudaStaging::write(CuDevicePointer to, std::uint64_t bytes, const Device::FillPiece& fill) {
  if (bytes == 0) return {};
  FERRY_TRY(prepare());
  return finish(fill_all(to, bytes, fill));
}

Status CudaStaging::read(CuDevicePointer from, std::uint64_t bytes, const Device::TakePiece& take) {
  if (bytes == 0) return {};
  FERRY_TRY(prepare());
  return finish(take_all(from, bytes, take));
}

Status CudaStaging::fill_all(CuDevicePointer to, std::uint64_t bytes, const Device::FillPiece& fill) {
  std::size_t turn = 0;
  for (std::uint64_t done = 0; done < bytes; done += kPieceBytes, ++turn) {
    const Piece& piece = pieces_[turn % 2];
    if (turn >= 2) {
      if (const CuResult error = api_.event_wait(piece.copied); error != kCuSuccess)
        return cuda_failure(api_, "cuEventSynchronize", error);
    }
    const std::size_t size = piece_at(done, bytes);
    FERRY_TRY(fill({static_cast<std::uint8_t*>(piece.memory), size}));
    CuResult error = api_.copy_to_device(to + done, piece.memory, size, stream_);
    if (error == kCuSuccess) error = api_.event_record(piece.copied, stream_);
    if (error != kCuSuccess) return cuda_failure(api_, "cuMemcpyHtoDAsync", error);
  }
  return {};
}

Status CudaStaging::take_all(CuDevicePointer from, std::uint64_t bytes, const Device::TakePiece& take) {
  const auto fetch = [&](std::uint64_t done) {
    const Piece& piece = pieces_[done / kPieceBytes % 2];
    CuResult error = api_.copy_to_host(piece.memory, from + done, piece_at(done, bytes), stream_);
    if (error == kCuSuccess) error = api_.event_record(piece.copied, stream_);
    return error == kCuSuccess ? Status() : cuda_failure(api_, "cuMemcpyDtoHAsync", error);
  };
  FERRY_TRY(fetch(0));
  for (std::uint64_t done = 0; done < bytes; done += kPieceBytes) {
    if (bytes - done > kPieceBytes) FERRY_TRY(fetch(done + kPieceBytes));
    const Piece& piece = pieces_[done / kPieceBytes % 2];
    if (const CuResult error = api_.event_wait(piece.copied); error != kCuSuccess)
      return cuda_failure(api_, "cuEventSynchronize", error);
    FERRY_TRY(take({static_cast<const std::uint8_t*>(piece.memory), piece_at(done, bytes)}));
  }
  return {};
}

}  // namespace ferry::device
