#include <algorithm>

#include "host/session/state.h"

namespace ferry {

namespace {

// Large enough to cost nothing, small enough to tell progress by and to notice a lost connection.
constexpr std::uint64_t kPieceBytes = 16u << 20;

}  // namespace

namespace detail {

std::uint64_t tensor_bytes(DType dtype, const Shape& shape) {
  std::uint64_t bytes = dtype_bytes(dtype);
  if (shape.size() > kMaxRank) {
    throw RemoteError(ErrorCode::invalid_argument, "expected at most " + std::to_string(kMaxRank) +
                                                       " dimensions, got " + std::to_string(shape.size()));
  }
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) {
      throw RemoteError(ErrorCode::invalid_argument,
                        "expected a shape without negative sizes, got " + shape_text(dtype, shape));
    }
    empty = empty || extent == 0;
    if (extent > 0 && __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) {
      throw RemoteError(ErrorCode::resource_exhausted, shape_text(dtype, shape) + " is larger than any memory");
    }
  }
  return empty ? 0 : bytes;
}

TensorState::TensorState(std::shared_ptr<DeviceState> on, DType type, Shape dims)
    : device(std::move(on)), dtype(type), shape(std::move(dims)), bytes(tensor_bytes(dtype, shape)) {
  handle = device->client->new_handle();
  rpc::Alloc alloc;
  alloc.buffer = handle;
  alloc.bytes = bytes;
  device->client->post(alloc);
}

TensorState::~TensorState() {
  if (!device->client->is_open()) return;
  try {
    device->client->post(rpc::Free{handle});
  } catch (const RemoteError&) {
    // The connection is gone, and with it the memory.
  }
}

}  // namespace detail

DType Tensor::dtype() const { return state_->dtype; }

const Shape& Tensor::shape() const { return state_->shape; }

std::size_t Tensor::bytes() const { return state_->bytes; }

std::size_t Tensor::elements() const { return state_->bytes / dtype_bytes(state_->dtype); }

void Tensor::write(const void* from) {
  const auto* bytes = static_cast<const std::uint8_t*>(from);
  for (std::uint64_t done = 0; done < state_->bytes;) {
    const std::uint64_t piece = std::min(kPieceBytes, state_->bytes - done);
    state_->device->client->post(rpc::Write{state_->handle, done}, {bytes + done, piece});
    done += piece;
  }
}

void Tensor::read(void* into) const {
  auto* bytes = static_cast<std::uint8_t*>(into);
  std::vector<session::Pending<rpc::Empty>> pieces;
  for (std::uint64_t done = 0; done < state_->bytes;) {
    const std::uint64_t piece = std::min(kPieceBytes, state_->bytes - done);
    pieces.push_back(state_->device->client->send(rpc::Read{state_->handle, done, piece}, {}, {bytes + done, piece}));
    done += piece;
  }
  // All of them, whatever comes back: until then the answers are received into the caller's memory.
  for (auto& piece : pieces) piece.wait();
  for (auto& piece : pieces) piece.get();
}

void Tensor::expect_type(DType type) const {
  if (type == dtype()) return;
  throw RemoteError(ErrorCode::invalid_argument, std::string("expected to read a tensor of ") + dtype_name(type) +
                                                     ", got " + shape_text(dtype(), shape()));
}

}  // namespace ferry
