// Arrays of Python as arguments of calls, and tensors as arrays of NumPy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <optional>
#include <vector>

#include "ferry/client.h"
#include "host/python/session.h"
#include "module/manifest.h"

namespace ferry::python {

// An argument, and the array or the object whose memory it borrows.
struct BorrowedArgument {
  Argument argument;
  nanobind::object owner = {};
  nanobind::ndarray<nanobind::ro> array = {};
};

// An array that is not as the layout asks, or has negative strides, is copied first.
enum class Layout : std::uint8_t { dense, strided };

// An array by DLPack or the buffer protocol, or anything that NumPy makes an array of the given type of. Throws
// nanobind::type_error for arrays in the memory of another device.
BorrowedArgument borrowed_array(nanobind::handle value, DType dtype, const char* what, Layout layout = Layout::dense);
// The value of a parameter: a tensor of the device, an array, or a number. Throws nanobind::type_error.
BorrowedArgument borrowed_argument(nanobind::handle value, const ParameterInfo& parameter);

// An object of DLPack and the buffer protocol for the memory of a tensor of this process, which it keeps.
nanobind::object array_of(const PyTensor& tensor, std::uint8_t* memory);
// An array of NumPy that owns these elements; bf16 has the bits of each as uint16.
nanobind::object numpy_array(std::unique_ptr<std::uint8_t[]> elements, DType dtype, const Shape& shape);

}  // namespace ferry::python
