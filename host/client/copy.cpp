// DeviceTensor::copy_to(): copies on the device if both tensors are dense and on the same one, otherwise through this
// process.
#include <algorithm>
#include <array>
#include <utility>

#include "host/client/state.h"

namespace ferry {

namespace {

using detail::kPieceBytes;
using detail::TensorState;

void copy_on_device(const TensorState& from, const TensorState& to) {
  ++*to.version;
  to.device->client->post(rpc::Copy{to.handle, to.offset, from.handle, from.offset, from.span});
}

// Fetches one piece from the source device while the previous piece is sent to the destination.
void copy_in_pieces(const TensorState& from, const TensorState& to) {
  struct Piece {
    std::vector<std::uint8_t> bytes;
    session::Pending<rpc::Empty> read;
    Piece() = default;
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;
    // The answer is received into `bytes`, which must outlive it even if something has failed meanwhile.
    ~Piece() {
      try {
        if (read.valid()) read.wait();
      } catch (const Error&) {
        // The connection is lost, so no answer arrives any more.
      }
    }
  };
  std::array<Piece, 2> pieces;
  const auto fetch = [&](std::uint64_t begin) {
    Piece& piece = pieces[begin / kPieceBytes % 2];
    piece.bytes.resize(std::min(kPieceBytes, from.span - begin));
    const std::uint64_t size = piece.bytes.size();
    piece.read = from.device->client->send(rpc::Read{from.handle, from.offset + begin, size}, {}, piece.bytes);
  };
  ++*to.version;
  if (from.span != 0) fetch(0);
  for (std::uint64_t begin = 0; begin < from.span; begin += kPieceBytes) {
    if (begin + kPieceBytes < from.span) fetch(begin + kPieceBytes);
    Piece& piece = pieces[begin / kPieceBytes % 2];
    piece.read.get();
    to.device->client->post(rpc::Write{to.handle, to.offset + begin}, piece.bytes);
  }
}

// The bytes between the elements are read as well, and written back unchanged.
void write_elements(const TensorState& to, const std::vector<std::uint8_t>& elements) {
  std::vector<std::uint8_t> span(to.span);
  detail::read_span(to, span.data());
  const std::size_t size = dtype_bytes(to.dtype);
  detail::for_each_place(to.shape, to.strides, [&](std::size_t element, std::size_t place) {
    std::copy_n(elements.data() + element * size, size, span.data() + place * size);
  });
  detail::write_span(to, span.data());
}

}  // namespace

void DeviceTensor::copy_to(const DeviceTensor& destination) const {
  if (state_ == nullptr || destination.state_ == nullptr) {
    throw Error(ErrorCode::invalid_argument, "copy_to: expected two tensors, got an empty one, of no device");
  }
  const TensorState& from = *state_;
  const TensorState& to = *destination.state_;
  if (from.dtype != to.dtype || from.shape != to.shape) {
    throw Error(ErrorCode::invalid_argument, "copy_to: expected a tensor of " + shape_text(from.dtype, from.shape) +
                                                 " to copy to, got " + shape_text(to.dtype, to.shape));
  }
  if (from.span == 0) return;
  const bool dense = from.strides.empty() && to.strides.empty();
  if (dense && from.device == to.device) return copy_on_device(from, to);
  if (dense) return copy_in_pieces(from, to);
  std::vector<std::uint8_t> elements(bytes());
  read(elements.data());
  if (to.strides.empty()) return detail::write_span(to, elements.data());
  write_elements(to, elements);
}

DeviceTensor DeviceTensor::copy_to(const Device& device) const {
  if (state_ == nullptr) {
    throw Error(ErrorCode::invalid_argument, "copy_to: expected a tensor, got an empty one, of no device");
  }
  const DeviceTensor made = device.empty(dtype(), shape());
  copy_to(made);
  return made;
}

}  // namespace ferry
