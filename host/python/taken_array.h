// An array of Python as memory of this process, at the price of a call.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "ferry/client.h"
#include "host/python/dlpack_exchange.h"
#include "module/manifest.h"

namespace ferry::python {

enum class Access : std::uint8_t { read, write };

// Holds what an object exports by the buffer protocol or by DLPack until it is destroyed, which needs Python's lock.
class TakenArray {
 public:
  TakenArray() = default;
  TakenArray(TakenArray&& other) noexcept;
  TakenArray& operator=(TakenArray&&) = delete;
  ~TakenArray();

  // Returns false, with no exception set, if the object exports no such memory of this process, or only for reading.
  bool take(nanobind::handle value, Access access);

  DType dtype() const { return dtype_; }
  std::size_t rank() const { return rank_; }
  const std::int64_t* sizes() const { return sizes_.data(); }
  Shape shape() const { return {sizes_.begin(), sizes_.begin() + static_cast<std::ptrdiff_t>(rank_)}; }
  void* data() const { return data_; }
  bool is_dense() const { return is_dense_; }

 private:
  bool take_buffer(nanobind::handle value, Access access);
  bool take_exchanged(nanobind::handle value, Access access);
  template <class Array>
  bool take_dlpack(nanobind::handle value, std::optional<Array>& into);
  bool describe(std::size_t rank, std::size_t element, const auto& size, const auto& stride);

  DType dtype_ = DType::f32;
  std::size_t rank_ = 0;
  std::array<std::int64_t, kMaxRank> sizes_{};
  void* data_ = nullptr;
  bool is_dense_ = true;
  bool has_buffer_ = false;
  Py_buffer buffer_{};
  ExchangedTensor exchanged_;
  std::optional<nanobind::ndarray<nanobind::ro>> read_;
  std::optional<nanobind::ndarray<>> written_;
};

// The memory of an array that a result goes to. Throws nanobind::type_error that names it if it is not dense, or cannot
// be written.
class WritableArray {
 public:
  WritableArray(nanobind::handle value, const std::string& name);
  // Throws UsageError unless it has this type and shape.
  void expect(DType dtype, const Shape& shape, const std::string& name) const;
  void* data() const { return array_.data(); }
  const TakenArray& array() const { return array_; }

 private:
  TakenArray array_;
};

// Returns nothing for a type that ferry does not have.
std::optional<DType> type_of(nanobind::dlpack::dtype type);

}  // namespace ferry::python
