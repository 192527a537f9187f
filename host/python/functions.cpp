// Compiled modules, modules that a device has loaded, and their functions.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "ferry/measure.h"
#include "host/python/arrays.h"
#include "host/python/bindings.h"
#include "host/python/calls.h"
#include "host/python/direct_calls.h"
#include "host/python/forwarded.h"
#include "host/python/session.h"

namespace nb = nanobind;

namespace ferry::python {

namespace {

nb::object call(const PyFunction& function, const nb::args& given, const nb::kwargs& named) {
  const MatchedArguments matched = matched_arguments(function, given, named);
  nb::object results = call_directly(function, matched);
  return results.is_valid() ? results : call_by_messages(function, matched);
}

const FunctionInfo& info_of(const PyFunction& function) { return function.function->info(); }

// Names of the parameters except for those of one direction.
std::vector<std::string> names_but(Direction direction, const PyFunction& function) {
  std::vector<std::string> names;
  for (const ParameterInfo& parameter : info_of(function).parameters)
    if (parameter.direction != direction) names.push_back(parameter.name);
  return names;
}

PyFunction function_named(const PyModule& module, const std::string& name) {
  const std::vector<std::string> names = module.compiled.functions();
  if (std::ranges::find(names, name) == names.end()) {
    std::string all;
    for (const std::string& one : names) all += (all.empty() ? "" : ", ") + one;
    throw nb::key_error(("there is no function '" + name + "', but " + all).c_str());
  }
  PyFunction function{module, name, Held<Function>(module.loaded.session(), (*module.loaded)[name]), {}};
  if (!module.direct) return function;
  const auto index = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  const std::shared_ptr<session::DirectModule>& direct = **module.direct;
  if (direct->supports(index))
    function.direct.emplace(module.loaded.session(), std::make_shared<DirectFunction>(direct, index));
  return function;
}

}  // namespace

void bind_functions(nb::module_& module) {
  nb::class_<CompiledModule>(module, "CompiledModule", "Compiled functions, which any device of their target can load.")
      .def_static("open", &CompiledModule::open, nb::arg("file"), "Reads a .ferry file.")
      .def("save", &CompiledModule::save, nb::arg("file"), "Writes a .ferry file.")
      .def_prop_ro("functions", &CompiledModule::functions, "Names of the functions, in order.")
      .def_prop_ro("source", &CompiledModule::source, "The text that was compiled.")
      .def_prop_ro("schedule", &CompiledModule::schedule, "The schedules of all functions, the default ones included.");
  nb::class_<PyModule>(module, "Module", "Functions that a device has loaded.")
      .def("__getitem__", function_named, nb::arg("name"))
      .def_prop_ro(
          "compiled", [](const PyModule& loaded) { return loaded.compiled; }, "The module as it was compiled.")
      .def_prop_ro(
          "functions", [](const PyModule& loaded) { return loaded.compiled.functions(); },
          "Names of the functions, in order.");
  nb::class_<PyBoundCall>(module, "BoundCall", "A function with its arguments.")
      .def("__call__", &PyBoundCall::call, nb::sig("def __call__(self) -> typing.Any"),
           "Calls the function, and returns what `out` was, or else its results.");
  nb::class_<PyFunction>(module, "Function",
                         "A function of a device. Call it with arrays, tensors of the device and numbers, in the order "
                         "of its inputs or by name.")
      .def("__call__", call, nb::sig("def __call__(self, *args: typing.Any, **named: typing.Any) -> typing.Any"),
           "Calls it. `out`, an array or a tensor for each output, is where the results go; otherwise they are new "
           "tensors of the device.\n\n"
           "Raises TypeError for arguments of the wrong kind, UsageError for those of wrong types and sizes, and "
           "KernelFailed.")
      .def(
          "bind",
          [](const PyFunction& function, const nb::args& given, const nb::kwargs& named) {
            return PyBoundCall(function, given, named);
          },
          nb::sig("def bind(self, *args: typing.Any, **named: typing.Any) -> BoundCall"),
          "Prepares calls with these arguments, those of a call: `f = mm.bind(A, B, out=C); f()`.\n\n"
          "Each call reads the arrays as they are then. In this process (\"inproc://\") it takes no time beside the "
          "kernel's, and without `out` all calls write the same tensors. Elsewhere arrays are sent with each call, and "
          "tensors of the device are not.")
      .def(
          "bench", forwarded("ferry.measurements", "bench"),
          nb::sig("def bench(self, *args: typing.Any, repeat: int = 40, min_repeat_ms: float = 10, threads: int = 0, "
                  "cold: bool = False, warm: bool = False, peak: bool = True, **named: typing.Any) -> Measurement"),
          "Measures calls with these arguments on the device, as `ferry bench` does.\n\n"
          "repeat: samples, each of at least `min_repeat_ms` milliseconds; more are taken until the median is known to "
          "1%.\n"
          "threads: the most that parallel loops use; 0: as many as the device has.\n"
          "cold: with empty caches before each sample. warm: with the same inputs in each call, in place of new ones.\n"
          "peak: the device's peak rates are measured too, for the shares of them.")
      .def_prop_ro(
          "name", [](const PyFunction& function) { return function.name; }, "Its name in the text.")
      .def_prop_ro(
          "signature", [](const PyFunction& function) { return function.function->signature(); },
          "Such as \"mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)\".")
      .def_prop_ro(
          "inputs", [](const PyFunction& function) { return names_but(Direction::out, function); },
          "Names of the parameters that a call takes, in this order.")
      .def_prop_ro(
          "outputs", [](const PyFunction& function) { return names_but(Direction::in, function); },
          "Names of the tensors that a call returns, in this order.")
      .def_prop_ro(
          "last_seconds",
          [](const PyFunction& function) {
            const double seconds = function.direct ? (**function.direct)->seconds : 0;
            return seconds != 0 ? seconds : 1e-9 * static_cast<double>(function.function->last_elapsed_ns());
          },
          "How long the last call ran on the device, in seconds; bench() measures.");
}

}  // namespace ferry::python
