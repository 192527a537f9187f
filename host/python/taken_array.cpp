#include "host/python/taken_array.h"

#include <string_view>
#include <utility>

#include "ferry/error.h"

namespace nb = nanobind;

namespace ferry::python {

namespace {

// The type of an element in the notation of Python's module struct; nothing for all that is not one number of this
// machine.
std::optional<DType> type_of_format(const char* format, Py_ssize_t bytes) {
  std::string_view text = format == nullptr ? "B" : format;
  if (!text.empty() && (text[0] == '@' || text[0] == '=' || text[0] == '<')) text.remove_prefix(1);
  if (text.size() != 1) return std::nullopt;
  const auto whole = [&](std::optional<DType> one, std::optional<DType> two, std::optional<DType> four,
                         std::optional<DType> eight) -> std::optional<DType> {
    switch (bytes) {
      case 1: return one;
      case 2: return two;
      case 4: return four;
      case 8: return eight;
      default: return std::nullopt;
    }
  };
  switch (text[0]) {
    case '?': return bytes == 1 ? std::optional(DType::boolean) : std::nullopt;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q': return whole(DType::i8, DType::i16, DType::i32, DType::i64);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q': return whole(DType::u8, DType::u16, DType::u32, DType::u64);
    case 'e': return bytes == 2 ? std::optional(DType::f16) : std::nullopt;
    case 'f': return bytes == 4 ? std::optional(DType::f32) : std::nullopt;
    case 'd': return bytes == 8 ? std::optional(DType::f64) : std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace

TakenArray::TakenArray(TakenArray&& other) noexcept
    : dtype_(other.dtype_),
      rank_(other.rank_),
      sizes_(other.sizes_),
      data_(other.data_),
      is_dense_(other.is_dense_),
      has_buffer_(std::exchange(other.has_buffer_, false)),
      buffer_(other.buffer_),
      exchanged_(std::move(other.exchanged_)),
      read_(std::move(other.read_)),
      written_(std::move(other.written_)) {}

TakenArray::~TakenArray() {
  if (has_buffer_) PyBuffer_Release(&buffer_);
}

bool TakenArray::describe(std::size_t rank, std::size_t element, const auto& size, const auto& stride) {
  if (rank > kMaxRank) return false;
  rank_ = rank;
  auto dense = static_cast<std::int64_t>(element);
  is_dense_ = true;
  for (std::size_t i = rank; i-- > 0;) {
    sizes_[i] = size(i);
    is_dense_ = is_dense_ && (sizes_[i] <= 1 || stride(i) == dense);
    dense *= sizes_[i];
  }
  is_dense_ = is_dense_ || dense == 0;
  return true;
}

bool TakenArray::take_buffer(nb::handle value, Access access) {
  if (PyObject_CheckBuffer(value.ptr()) == 0) return false;
  const int flags = PyBUF_STRIDES | PyBUF_FORMAT | (access == Access::write ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(value.ptr(), &buffer_, flags) != 0) {
    PyErr_Clear();
    return false;
  }
  has_buffer_ = true;
  const std::optional<DType> type = type_of_format(buffer_.format, buffer_.itemsize);
  const bool is_known = type && describe(
                                    static_cast<std::size_t>(buffer_.ndim), static_cast<std::size_t>(buffer_.itemsize),
                                    [&](std::size_t i) { return static_cast<std::int64_t>(buffer_.shape[i]); },
                                    [&](std::size_t i) { return static_cast<std::int64_t>(buffer_.strides[i]); });
  if (!is_known) {
    PyBuffer_Release(&buffer_);
    has_buffer_ = false;
    return false;
  }
  dtype_ = *type;
  data_ = buffer_.buf;
  return true;
}

bool TakenArray::take_exchanged(nb::handle value, Access access) {
  ExchangedTensor exchanged = exchanged_tensor(value);
  if (exchanged == nullptr || (access == Access::write && exchanged->is_read_only())) return false;
  const nb::dlpack::dltensor& tensor = exchanged->tensor;
  if (tensor.device.device_type != nb::device::cpu::value || tensor.ndim < 0) return false;
  const std::optional<DType> type = type_of(tensor.dtype);
  if (!type) return false;
  const auto element = static_cast<std::int64_t>(dtype_bytes(*type));
  std::int64_t dense = element;  // strides may be missing in that case
  if (!describe(
          static_cast<std::size_t>(tensor.ndim), static_cast<std::size_t>(element),
          [&](std::size_t i) { return tensor.shape[i]; },
          [&](std::size_t i) {
            return tensor.strides == nullptr ? std::exchange(dense, dense * tensor.shape[i])
                                             : element * tensor.strides[i];
          }))
    return false;
  dtype_ = *type;
  data_ = static_cast<std::uint8_t*>(tensor.data) + tensor.byte_offset;
  exchanged_ = std::move(exchanged);
  return true;
}

template <class Array>
bool TakenArray::take_dlpack(nb::handle value, std::optional<Array>& into) {
  Array array;
  if (!nb::try_cast(value, array) || array.device_type() != nb::device::cpu::value) return false;
  const std::optional<DType> type = type_of(array.dtype());
  if (!type) return false;
  const auto element = static_cast<std::int64_t>(dtype_bytes(*type));
  if (!describe(
          array.ndim(), static_cast<std::size_t>(element),
          [&](std::size_t i) { return static_cast<std::int64_t>(array.shape(i)); },
          [&](std::size_t i) { return element * array.stride(i); }))
    return false;
  dtype_ = *type;
  data_ = const_cast<void*>(static_cast<const void*>(array.data()));
  into = std::move(array);
  return true;
}

bool TakenArray::take(nb::handle value, Access access) {
  if (take_buffer(value, access) || take_exchanged(value, access)) return true;
  return access == Access::write ? take_dlpack(value, written_) : take_dlpack(value, read_);
}

WritableArray::WritableArray(nb::handle value, const std::string& name) {
  if (array_.take(value, Access::write)) {
    if (!array_.is_dense())
      throw nb::type_error(("expected a dense array for " + name + ", got one with gaps").c_str());
    return;
  }
  TakenArray readable;
  const char* const got = readable.take(value, Access::read) ? "a read-only one" : nb::type_name(value.type()).c_str();
  throw nb::type_error(("expected an array that can be written for " + name + ", got " + got).c_str());
}

void WritableArray::expect(DType dtype, const Shape& shape, const std::string& name) const {
  if (array_.dtype() == dtype && array_.shape() == shape) return;
  throw UsageError(name + ": expected " + shape_text(dtype, shape) + ", got " +
                   shape_text(array_.dtype(), array_.shape()));
}

}  // namespace ferry::python
