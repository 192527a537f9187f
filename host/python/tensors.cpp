// Tensors of a device.
#include <nanobind/nanobind.h>
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

nb::object to_numpy(const PyTensor& tensor) {
  auto elements = std::make_unique<std::uint8_t[]>(tensor->bytes());
  tensor.session()->run([&](const Device&) { tensor->read(elements.get()); });
  nb::object array = numpy_array(std::move(elements), tensor->dtype(), tensor->shape());
  if (tensor->dtype() != DType::bf16) return array;
  return array.attr("view")(nb::module_::import_("ml_dtypes").attr("bfloat16"));
}

// NumPy's protocol, by which np.asarray(tensor) and most functions of NumPy take one.
nb::object to_array(const PyTensor& tensor, nb::handle dtype, nb::handle copy) {
  if (nb::isinstance<nb::bool_>(copy) && !nb::cast<bool>(copy))
    throw nb::value_error("a tensor of a device cannot become an array without a copy");
  nb::object array = to_numpy(tensor);
  return dtype.is_none() ? array : array.attr("astype")(dtype);
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
      .def("numpy", to_numpy,
           "Copies the elements into an array of NumPy. Those of bf16 have the type bfloat16 of ml_dtypes, which has "
           "to be "
           "installed.")
      .def("__array__", to_array, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
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
