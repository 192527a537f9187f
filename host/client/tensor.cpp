#include <algorithm>
#include <cstring>

#include "host/client/state.h"

namespace ferry {

namespace {

// Alignment of the first byte of a view in its buffer.
constexpr std::uint64_t kViewAlignment = 64;

}  // namespace

namespace detail {

void check_device(const DeviceTensor& tensor, const DeviceState& device, const std::string& what) {
  if (Access::is_empty(tensor)) {
    throw Error(ErrorCode::invalid_argument,
                what + ": expected a tensor of " + device.name + ", got an empty one, of no device");
  }
  const DeviceState& own = *Access::state(tensor).device;
  if (&own == &device) return;
  const bool same_name = own.name == device.name;
  throw Error(ErrorCode::invalid_argument, what + ": expected a tensor of " + device.name +
                                               (same_name ? " and of the same session" : "") + ", got one of " +
                                               (same_name ? "another session there" : own.name) +
                                               "; DeviceTensor::copy_to() brings it over");
}

std::uint64_t tensor_bytes(DType dtype, const Shape& shape) {
  std::uint64_t bytes = dtype_bytes(dtype);
  if (shape.size() > kMaxRank) {
    throw Error(ErrorCode::invalid_argument,
                "expected at most " + std::to_string(kMaxRank) + " dimensions, got " + std::to_string(shape.size()));
  }
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) {
      throw Error(ErrorCode::invalid_argument,
                  "expected a shape without negative sizes, got " + shape_text(dtype, shape));
    }
    empty = empty || extent == 0;
    if (extent > 0 && __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) {
      throw Error(ErrorCode::resource_exhausted, shape_text(dtype, shape) + " is larger than any memory");
    }
  }
  return empty ? 0 : bytes;
}

void expect_elements(DType dtype, const Shape& shape, std::size_t elements) {
  const std::uint64_t wanted = tensor_bytes(dtype, shape) / dtype_bytes(dtype);
  if (wanted == elements) return;
  throw Error(ErrorCode::invalid_argument, "a view of " + shape_text(dtype, shape) + ": expected " +
                                               std::to_string(wanted) + " elements, got " + std::to_string(elements));
}

std::uint64_t tensor_span(DType dtype, const Shape& shape, const Shape& strides) {
  const std::uint64_t dense = tensor_bytes(dtype, shape);
  if (strides.empty() || dense == 0) return dense;
  const auto refuse = [](ErrorCode code, const std::string& text) { throw Error(code, text); };
  if (strides.size() != shape.size()) {
    refuse(ErrorCode::invalid_argument, "expected a stride for each dimension of " + shape_text(dtype, shape) +
                                            ", got " + std::to_string(strides.size()));
  }
  std::uint64_t elements = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (strides[d] < 0)
      refuse(ErrorCode::invalid_argument, "expected strides of at least 0, got " + std::to_string(strides[d]));
    std::uint64_t reach = 0;
    if (__builtin_mul_overflow(static_cast<std::uint64_t>(shape[d] - 1), static_cast<std::uint64_t>(strides[d]),
                               &reach) ||
        __builtin_add_overflow(elements, reach, &elements) || elements >> 59 != 0) {
      refuse(ErrorCode::resource_exhausted, shape_text(dtype, shape) + " with its strides is larger than any memory");
    }
  }
  return elements * dtype_bytes(dtype);
}

void write_span(const TensorState& tensor, const void* from) {
  const auto* bytes = static_cast<const std::uint8_t*>(from);
  ++*tensor.version;
  if (tensor.device->direct != nullptr) {
    if (tensor.span != 0) std::memcpy(tensor.device->direct->address(tensor.handle) + tensor.offset, from, tensor.span);
    return;
  }
  for (std::uint64_t done = 0; done < tensor.span;) {
    const std::uint64_t piece = std::min(kPieceBytes, tensor.span - done);
    tensor.device->client->post(rpc::Write{tensor.handle, tensor.offset + done}, {bytes + done, piece});
    done += piece;
  }
}

std::uint8_t* shared_address(const TensorState& tensor) {
  const auto& part = tensor.whole != nullptr ? tensor.whole->part : tensor.part;
  if (!part) return nullptr;
  // It is answered after all requests before, and refused like a request that reads the tensor.
  tensor.device->client->call(rpc::Copy{tensor.handle, tensor.offset, tensor.handle, tensor.offset, tensor.span});
  return tensor.device->shared->at(*part) + tensor.offset;
}

void read_span(const TensorState& tensor, std::uint8_t* bytes) {
  if (const std::uint8_t* const memory = shared_address(tensor)) {
    std::memcpy(bytes, memory, tensor.span);
    return;
  }
  std::vector<session::Pending<rpc::Empty>> pieces;
  for (std::uint64_t done = 0; done < tensor.span;) {
    const std::uint64_t piece = std::min(kPieceBytes, tensor.span - done);
    pieces.push_back(
        tensor.device->client->send(rpc::Read{tensor.handle, tensor.offset + done, piece}, {}, {bytes + done, piece}));
    done += piece;
  }
  // Wait for all pieces even if one fails: until then answers are received into the caller's memory.
  for (auto& piece : pieces) piece.wait();
  for (auto& piece : pieces) piece.get();
}

bool same_places(const Shape& shape, const Shape& a, const Shape& b) {
  std::int64_t dense = 1;
  bool same = true;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 0) return true;
    same = same && (shape[d] == 1 || (a.empty() ? dense : a[d]) == (b.empty() ? dense : b[d]));
    dense *= shape[d];
  }
  return same;
}

TensorState::TensorState(std::shared_ptr<DeviceState> on, DType type, Shape dims, Shape apart,
                         std::optional<std::uint32_t> session_device, const void* contents)
    : device(std::move(on)), dtype(type), shape(std::move(dims)), span(tensor_span(dtype, shape, apart)) {
  if (!same_places(shape, apart, {})) strides = std::move(apart);
  version = std::make_shared<std::uint64_t>(0);
  if (device->direct != nullptr) {
    handle = session::Client::new_handle();
    device->direct->allocate(handle, span);
    if (contents != nullptr) write_span(*this, contents);
    return;
  }
  const std::uint32_t where = session_device.value_or(device->client->memory_device());
  if (device->shared != nullptr && where == 0) part = device->shared->allocate(*device->client, span);
  if (part) {
    handle = part->buffer;
    // No request before this one uses the part.
    std::uint8_t* const memory = device->shared->at(*part);
    if (contents != nullptr) {
      std::memcpy(memory, contents, span);
    } else if (!part->is_zero) {
      std::memset(memory, 0, span);
    }
    return;
  }
  rpc::Alloc alloc;
  alloc.buffer = handle = session::Client::new_handle();
  alloc.bytes = span;
  alloc.device = where;
  device->client->post(alloc);
  if (contents != nullptr) write_span(*this, contents);
}

TensorState::TensorState(std::shared_ptr<DeviceState> on, const View& memory)
    : device(std::move(on)),
      handle(session::Client::new_handle()),
      dtype(memory.dtype),
      shape(memory.shape),
      span(tensor_span(dtype, shape, memory.strides)),
      version(std::make_shared<std::uint64_t>(0)) {
  if (!same_places(shape, memory.strides, {})) strides = memory.strides;
  device->direct->adopt(handle, const_cast<void*>(memory.data), span);
}

TensorState::TensorState(std::shared_ptr<const TensorState> of, Shape dims, Shape apart, std::uint64_t from_byte)
    : device(of->device),
      whole(of->whole ? of->whole : of),
      handle(of->handle),
      offset(of->offset + from_byte),
      dtype(of->dtype),
      shape(std::move(dims)),
      span(tensor_span(dtype, shape, apart)),
      version(of->version) {
  if (!same_places(shape, apart, {})) strides = std::move(apart);
  if (offset % kViewAlignment != 0 || from_byte > of->span || span > of->span - from_byte) {
    throw Error(ErrorCode::invalid_argument,
                "expected a view of " + std::to_string(of->span) + " bytes that starts at a multiple of " +
                    std::to_string(kViewAlignment) + " bytes, got " + std::to_string(span) + " bytes from " +
                    std::to_string(from_byte) + " on");
  }
}

TensorState::~TensorState() {
  if (whole != nullptr || (!part && !device->client->is_open())) return;
  if (device->direct != nullptr) {
    device->direct->free(handle);
    return;
  }
  try {
    if (part) {
      device->shared->free(*device->client, *part);
    } else {
      device->client->post(rpc::Free{handle});
    }
  } catch (const Error&) {
    // The connection is lost, and the memory with it.
  }
}

}  // namespace detail

DType DeviceTensor::dtype() const { return state_->dtype; }

const Shape& DeviceTensor::shape() const { return state_->shape; }

std::size_t DeviceTensor::bytes() const { return elements() * dtype_bytes(state_->dtype); }

std::size_t DeviceTensor::elements() const { return detail::tensor_bytes(DType::u8, state_->shape); }

const Shape& DeviceTensor::strides() const { return state_->strides; }

DeviceTensor DeviceTensor::view(Shape shape, Shape strides, std::uint64_t first) const {
  const std::uint64_t begin = first * dtype_bytes(state_->dtype);
  return DeviceTensor(std::make_shared<detail::TensorState>(state_, std::move(shape), std::move(strides), begin));
}

void DeviceTensor::write(const void* from) {
  if (!state_->strides.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "expected a dense tensor to write to, got one with strides: write the tensor that it is a view of");
  }
  detail::write_span(*state_, from);
}

void DeviceTensor::read(void* into) const {
  auto* bytes = static_cast<std::uint8_t*>(into);
  if (state_->strides.empty()) return detail::read_span(*state_, bytes);
  std::vector<std::uint8_t> span(state_->span);
  detail::read_span(*state_, span.data());
  const std::size_t size = dtype_bytes(state_->dtype);
  detail::for_each_place(state_->shape, state_->strides, [&](std::size_t element, std::size_t place) {
    std::copy_n(span.data() + place * size, size, bytes + element * size);
  });
}

void DeviceTensor::expect_type(DType type) const {
  if (type == dtype()) return;
  throw Error(ErrorCode::invalid_argument, std::string("expected to read a tensor of ") + dtype_name(type) + ", got " +
                                               shape_text(dtype(), shape()));
}

}  // namespace ferry
