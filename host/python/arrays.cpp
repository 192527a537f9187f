#include "host/python/arrays.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <string>

#include "host/python/session.h"
#include "host/python/taken_array.h"

namespace nb = nanobind;

namespace ferry::python {
namespace {

using Array = nb::ndarray<nb::ro>;

constexpr nb::dlpack::dtype_code kBfloat = nb::dlpack::dtype_code::Bfloat;

nb::dlpack::dtype dlpack_type(DType dtype) {
  using Code = nb::dlpack::dtype_code;
  const Code code = dtype == DType::boolean ? Code::Bool
                    : dtype == DType::bf16  ? Code::UInt
                    : is_float(dtype)       ? Code::Float
                    : is_signed_int(dtype)  ? Code::Int
                                            : Code::UInt;
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * dtype_bytes(dtype)), 1};
}

nb::object numpy() { return nb::module_::import_("numpy"); }

std::string name_of_type(nb::handle value) { return nb::type_name(value.type()).c_str(); }

// NumPy's name of a type; empty for bf16, which it lacks.
std::string numpy_name(DType dtype) {
  if (dtype == DType::bf16) return {};
  if (dtype == DType::boolean) return "bool";
  const char* const kind = is_float(dtype) ? "float" : is_signed_int(dtype) ? "int" : "uint";
  return kind + std::to_string(8 * dtype_bytes(dtype));
}

bool is_bfloat16_of_numpy(nb::handle value) {
  if (!nb::hasattr(value, "dtype") || !nb::hasattr(value, "view")) return false;
  const nb::object type = value.attr("dtype");
  return nb::hasattr(type, "name") && nb::cast<std::string>(type.attr("name")) == "bfloat16";
}

// Strides in elements; nothing if the array is dense and row-major.
Shape strides_of(const Array& array) {
  Shape strides(array.ndim());
  bool is_dense = true;
  std::int64_t dense = 1;
  for (std::size_t i = array.ndim(); i-- > 0;) {
    const auto size = static_cast<std::int64_t>(array.shape(i));
    strides[i] = size > 1 ? array.stride(i) : dense;
    is_dense = is_dense && strides[i] == dense;
    dense *= size;
  }
  return is_dense ? Shape() : strides;
}

}  // namespace

std::optional<DType> type_of(nb::dlpack::dtype type) {
  if (type.lanes != 1) return std::nullopt;
  if (type.code == static_cast<std::uint8_t>(kBfloat))
    return type.bits == 16 ? std::optional(DType::bf16) : std::nullopt;
  for (int tag = 1; is_valid_dtype(static_cast<std::uint8_t>(tag)); ++tag) {
    const auto dtype = static_cast<DType>(tag);
    if (dtype != DType::bf16 && dlpack_type(dtype) == type) return dtype;
  }
  return std::nullopt;
}

BorrowedArgument borrowed_array(nb::handle value, DType dtype, const char* what, Layout layout) {
  nb::object owner = nb::borrow(value);
  // NumPy hands out neither DLPack nor a buffer of this type.
  const bool is_bfloat16 = is_bfloat16_of_numpy(value);
  if (is_bfloat16) owner = owner.attr("view")("uint16");
  const bool is_sequence = nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value);
  if (const std::string name = numpy_name(dtype); is_sequence && !name.empty())
    owner = numpy().attr("asarray")(owner, name.c_str());
  Array array;
  if (!nb::try_cast(owner, array))
    throw nb::type_error(("expected an array for " + std::string(what) + ", got " + name_of_type(value)).c_str());
  if (array.device_type() != nb::device::cpu::value) {
    throw nb::type_error(
        (std::string(what) + ": expected an array in this machine's memory, got one in that of another device")
            .c_str());
  }
  Shape strides = strides_of(array);
  const bool is_negative = std::ranges::any_of(strides, [](std::int64_t stride) { return stride < 0; });
  if (is_negative || (layout == Layout::dense && !strides.empty())) {
    owner = numpy().attr("ascontiguousarray")(owner);
    array = nb::cast<Array>(owner);
    strides.clear();
  }
  const std::optional<DType> type = is_bfloat16 ? DType::bf16 : type_of(array.dtype());
  if (!type) throw nb::type_error((std::string(what) + ": this type of elements is not known").c_str());
  View view{*type, Shape(array.ndim()), array.data(), std::move(strides)};
  for (std::size_t i = 0; i < array.ndim(); ++i) view.shape[i] = static_cast<std::int64_t>(array.shape(i));
  return {Argument(std::move(view)), std::move(owner), std::move(array)};
}

BorrowedArgument borrowed_argument(nb::handle value, const ParameterInfo& parameter) {
  if (nb::isinstance<PyTensor>(value)) return {Argument(*nb::cast<const PyTensor&>(value)), nb::borrow(value)};
  if (parameter.kind == ParameterKind::tensor) {
    return borrowed_array(value, parameter.dtype, parameter.name.c_str(),
                          parameter.strides.empty() ? Layout::dense : Layout::strided);
  }
  nb::object number = nb::borrow(value);
  if (!PyFloat_Check(value.ptr()) && !PyLong_Check(value.ptr()) && nb::hasattr(value, "item"))
    number = value.attr("item")();  // a scalar of NumPy or torch
  if (PyFloat_Check(number.ptr())) return {Argument(nb::cast<double>(number))};
  std::int64_t whole = 0;
  if (nb::try_cast(number, whole)) return {Argument(whole)};
  std::uint64_t large = 0;
  if (nb::try_cast(number, large)) return {Argument(large)};
  throw nb::type_error(("expected a number for " + parameter.name + ", got " + name_of_type(value)).c_str());
}

nb::object array_of(const PyTensor& tensor, std::uint8_t* memory) {
  const Shape& shape = tensor->shape();
  std::vector<std::size_t> sizes(shape.begin(), shape.end());
  const nb::object owner = nb::cast(tensor);  // another object for the same tensor
  const nb::ndarray<nb::array_api> array(memory, sizes.size(), sizes.data(), owner, nullptr,
                                         dlpack_type(tensor->dtype()));
  return nb::cast(array, nb::rv_policy::reference);
}

nb::object numpy_array(std::unique_ptr<std::uint8_t[]> elements, DType dtype, const Shape& shape) {
  std::vector<std::size_t> sizes(shape.begin(), shape.end());
  std::uint8_t* const memory = elements.release();
  const nb::capsule owner(memory, [](void* owned) noexcept { delete[] static_cast<std::uint8_t*>(owned); });
  const nb::ndarray<nb::numpy> array(memory, sizes.size(), sizes.data(), owner, nullptr, dlpack_type(dtype));
  return nb::cast(array, nb::rv_policy::reference);
}

}  // namespace ferry::python
