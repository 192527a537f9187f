// Tensors of a device.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "host/python/arrays.h"
#include "host/python/bindings.h"
#include "host/python/session.h"

namespace nb = nanobind;

namespace ferry::python {
namespace {

nb::object shape_of(const PyTensor& tensor) {
  nb::list sizes;
  for (const std::int64_t size : tensor->shape()) sizes.append(size);
  return nb::tuple(sizes);
}

// A tensor whose memory this process has mapped as an object of DLPack that shares it; an invalid object for others.
nb::object shared_array(const PyTensor& tensor) {
  std::uint8_t* const memory = tensor->strides().empty()
                                   ? tensor.session()->run([&](const Device&) { return session::address_of(*tensor); })
                                   : nullptr;
  return memory == nullptr ? nb::object() : array_of(tensor, memory);
}

nb::object shared_numpy(const PyTensor& tensor) {
  if (tensor->dtype() == DType::bf16) return {};  // NumPy takes none by DLPack
  const nb::object shared = shared_array(tensor);
  return shared.is_valid() ? nb::object(nb::module_::import_("numpy").attr("asarray")(shared)) : shared;
}

nb::object copied_numpy(const PyTensor& tensor) {
  auto elements = std::make_unique<std::uint8_t[]>(tensor->bytes());
  tensor.session()->run([&](const Device&) { tensor->read(elements.get()); });
  nb::object array = numpy_array(std::move(elements), tensor->dtype(), tensor->shape());
  if (tensor->dtype() != DType::bf16) return array;
  return array.attr("view")(nb::module_::import_("ml_dtypes").attr("bfloat16"));
}

nb::object to_numpy(const PyTensor& tensor) {
  nb::object array = shared_numpy(tensor);
  return array.is_valid() ? array : copied_numpy(tensor);
}

// NumPy's protocol, by which np.asarray(tensor) and most functions of NumPy take one.
nb::object to_array(const PyTensor& tensor, nb::handle dtype, nb::handle copy) {
  const bool must_copy = nb::isinstance<nb::bool_>(copy) && nb::cast<bool>(copy);
  nb::object array = must_copy ? copied_numpy(tensor) : shared_numpy(tensor);
  if (!array.is_valid()) {
    if (nb::isinstance<nb::bool_>(copy))
      throw nb::value_error("a tensor of a device cannot become an array without a copy");
    array = copied_numpy(tensor);
  }
  return dtype.is_none() ? array : array.attr("astype")(dtype);
}

// DLPack's protocol, by which torch and others take a tensor. The memory is that of the tensor in this process,
// otherwise a copy.
nb::object to_dlpack(const PyTensor& tensor, const nb::kwargs& how) {
  nb::object array = shared_array(tensor);
  if (!array.is_valid()) {
    if (how.contains("copy") && nb::object(how["copy"]).is(nb::handle(Py_False)))
      throw nb::buffer_error("a tensor of a device cannot become an array without a copy");
    array = copied_numpy(tensor);
  }
  return array.attr("__dlpack__")(**how);
}

void write(const PyTensor& tensor, nb::handle array) {
  const BorrowedArgument given = borrowed_array(array, tensor->dtype(), "the tensor");
  const View& view = std::get<View>(given.argument.value());
  tensor.session()->run([&](const Device& device) { device.put(view).copy_to(*tensor); });
}

}  // namespace

void bind_tensors(nb::module_& module) {
  nb::class_<PyTensor>(module, "Tensor", "Memory of a device, which is freed with the last reference.")
      .def_prop_ro("shape", shape_of, "Sizes of the dimensions.")
      .def_prop_ro(
          "dtype", [](const PyTensor& tensor) { return std::string(dtype_name(tensor->dtype())); },
          "The type of the elements: \"f32\", \"bf16\", \"i64\", \"bool\".")
      .def_prop_ro(
          "nbytes", [](const PyTensor& tensor) { return tensor->bytes(); }, "Size of the elements in bytes.")
      .def(
          "numpy", to_numpy,
          "Copies the elements into an array of NumPy. A tensor of this process (\"inproc://\"), and one of 128 KiB or "
          "more of the local server, becomes an array that shares its memory instead, with what later calls write. "
          "Those of bf16 have the type bfloat16 of ml_dtypes, which has to be installed, and are copied.")
      .def("__array__", to_array, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack__", to_dlpack, nb::sig("def __dlpack__(self, **how: typing.Any) -> typing.Any"))
      .def("__dlpack_device__", [](const PyTensor&) { return std::pair(1, 0); })  // memory of this machine
      .def("__repr__",
           [](const PyTensor& tensor) {
             std::string sizes;
             for (const std::int64_t size : tensor->shape()) sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
             return "<ferry.Tensor " + std::string(dtype_name(tensor->dtype())) + "[" + sizes + "]>";
           })
      .def("write", write, nb::arg("array"),
           "Copies an array of the same shape and type of elements into the tensor. Raises UsageError if they differ.");
}

}  // namespace ferry::python
