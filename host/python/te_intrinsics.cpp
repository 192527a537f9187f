// Functions of one's own: what stands for a call of one on each target, and functions of C in place of loops.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>

#include "ferry/error.h"
#include "host/python/bindings.h"
#include "host/python/te.h"

namespace nb = nanobind;

namespace ferry::python {

namespace {

using ir::Expr;

// A function of Python, which whoever lowers may call and drop without Python's lock.
std::shared_ptr<PyObject> shared_object(const nb::object& object) {
  return {object.inc_ref().ptr(), [](PyObject* held) {
            const nb::gil_scoped_acquire acquired;
            Py_DECREF(held);
          }};
}

// The last line that Python prints of an exception.
std::string text_of(const nb::python_error& error) {
  const std::string type = nb::type_name(error.type()).c_str();
  return type + ": " + nb::str(error.value()).c_str();
}

// Returns the result of Python's function for the arguments, in the type of the call. Its exceptions become messages,
// as they may have to leave another thread than the one that compiles.
Expr lowered(const std::string& name, PyObject* function, const IntrinsicCall& call) {
  const nb::gil_scoped_acquire acquired;
  try {
    const nb::object result = nb::handle(function)(*nb::tuple(nb::cast(call.arguments)));
    if (nb::isinstance<Expr>(result)) return nb::cast<Expr>(result);
    return ir::constant(call.type, nb::cast<double>(nb::float_(result)));
  } catch (const nb::python_error& error) {
    throw CompileError(name + ": " + text_of(error));
  }
}

// A function often refers to what has it, such as the variable that holds the context.
int visit_functions(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  for (const std::shared_ptr<PyObject>& function : nb::inst_ptr<PyContext>(self)->functions) Py_VISIT(function.get());
  return 0;
}

int drop_functions(PyObject* self) {
  *nb::inst_ptr<PyContext>(self) = {};
  return 0;
}

PyType_Slot context_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_functions)},
                               {Py_tp_clear, reinterpret_cast<void*>(drop_functions)},
                               {0, nullptr}};

IntrinsicTypeRule type_rule(std::size_t arguments, const std::optional<std::vector<std::string>>& types,
                            const std::string& result) {
  if (!types) return same_float_types(arguments);
  std::vector<DType> all;
  for (const std::string& type : *types) all.push_back(dtype_of_name(type));
  return fixed_types(std::move(all), dtype_of_name(result));
}

std::vector<std::uint8_t> bytes_of(const nb::bytes& bytes) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.c_str());
  return {first, first + bytes.size()};
}

struct PyPiece {
  ir::BufferRef buffer;
  DType dtype;
};

Expr element_of(const PyPiece& piece, nb::handle index) {
  return element(piece.buffer, nb::isinstance<nb::tuple>(index) ? exprs_of(index) : std::vector{expr_of(index)});
}

NestFunction nest_of(const std::string& symbol, const std::vector<PyPiece>& pieces, const std::vector<PyAxis>& axes,
                     nb::handle indices, nb::handle value) {
  std::vector<ir::BufferRef> buffers;
  for (const PyPiece& piece : pieces) buffers.push_back(piece.buffer);
  std::vector<ir::Axis> loops;
  for (const PyAxis& axis : axes) loops.push_back(axis.axis);
  const ir::ExprOrLiteral result = operand_of(value);
  const bool is_literal = result.is_literal() && !pieces.empty();
  return nest_function(symbol, buffers, loops, exprs_of(indices),
                       is_literal ? result.as(pieces.front().dtype) : result.expr());
}

}  // namespace

void bind_intrinsics(nb::module_& module) {
  nb::class_<PyPiece>(module, "Piece", "A part of a larger tensor, for the definition of a function of C.")
      .def("__getitem__", element_of,
           nb::sig("def __getitem__(self, index: Expr | int | tuple[Expr | int, ...], /) -> Expr"),
           "The element at an index, or at as many as the piece has dimensions.");
  module.def("_piece", [](const std::string& name, const std::string& dtype, nb::handle shape, nb::handle strides) {
    const DType type = dtype_of_name(dtype);
    return PyPiece{piece(name, type, exprs_of(shape), exprs_of(strides)), type};
  });
  nb::class_<NestFunction>(module, "_Nest");
  module.def("_nest", nest_of);
  nb::class_<PyContext>(module, "_Context", nb::type_slots(context_slots))
      .def(nb::init<>())
      .def(
          "add",
          [](PyContext& self, const std::string& name, std::size_t arguments,
             const std::optional<std::vector<std::string>>& types,
             const std::string& result) { self.context.add_intrinsic(name, type_rule(arguments, types, result)); },
          nb::arg(), nb::arg(), nb::arg().none(), nb::arg())
      .def("add_rule",
           [](PyContext& self, const std::string& name, const nb::object& lower, std::string arch,
              std::vector<std::string> features, int priority) {
             const auto function = shared_object(lower);
             self.functions.push_back(function);
             self.context.add_rule(
                 name, {std::move(arch), std::move(features), priority,
                        [name, function](const IntrinsicCall& call) { return lowered(name, function.get(), call); }});
           })
      .def(
          "call",
          [](const PyContext& self, const std::string& name, const nb::args& arguments) {
            return self.context.call(name, exprs_of(arguments));
          },
          nb::sig("def call(self, name: str, *arguments: Expr | float) -> Expr"))
      .def(
          "add_tensor",
          [](PyContext& self, const std::string& name, const NestFunction& update,
             const std::optional<NestFunction>& reset) { self.context.add_tensor_intrinsic(name, {update, reset}); },
          nb::arg(), nb::arg(), nb::arg().none())
      .def("add_object", [](PyContext& self, const std::string& arch, const nb::bytes& object) {
        self.context.add_object(arch, bytes_of(object));
      });
}

}  // namespace ferry::python
