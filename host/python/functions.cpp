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
#include "host/python/forwarded.h"
#include "host/python/session.h"

namespace nb = nanobind;

namespace ferry::python {

const FunctionInfo& info_of(const PyFunction& function) { return function.function->info(); }

BorrowedArguments borrowed_arguments(const PyFunction& function, const nb::args& given, const nb::kwargs& named) {
  const std::vector<ParameterInfo>& parameters = info_of(function).parameters;
  std::vector<const ParameterInfo*> taken;
  const bool with_outputs = given.size() + named.size() == parameters.size();
  for (const ParameterInfo& parameter : parameters)
    if (with_outputs || parameter.direction != Direction::out) taken.push_back(&parameter);
  const auto refuse = [&](const std::string& why) {
    throw nb::type_error((why + ": " + function.function->signature()).c_str());
  };
  if (given.size() + named.size() != taken.size()) {
    refuse("expected " + std::to_string(taken.size()) + " arguments, got " +
           std::to_string(given.size() + named.size()));
  }
  BorrowedArguments all;
  std::size_t named_found = 0;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    nb::object value;
    if (i < given.size()) {
      value = nb::borrow(given[i]);
    } else {
      if (!named.contains(taken[i]->name.c_str())) refuse("expected a value for " + taken[i]->name);
      value = nb::borrow(named[taken[i]->name.c_str()]);
      ++named_found;
    }
    all.owners.push_back(borrowed_argument(value, *taken[i]));
    all.arguments.push_back(all.owners.back().argument);
  }
  if (named_found != named.size()) refuse("an argument is named that is not a parameter, or given twice");
  return all;
}

namespace {

nb::object call(const PyFunction& function, const nb::args& given, const nb::kwargs& named) {
  const BorrowedArguments arguments = borrowed_arguments(function, given, named);
  const std::shared_ptr<Session>& session = function.function.session();
  const std::vector<DeviceTensor> outputs =
      session->run([&](const Device&) { return function.function->call(arguments.arguments); });
  nb::list results;
  for (const DeviceTensor& output : outputs) results.append(nb::cast(PyTensor(session, output)));
  if (results.size() == 1) return nb::object(results[0]);
  return nb::tuple(results);
}

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
  return {module, name, Held<Function>(module.loaded.session(), (*module.loaded)[name])};
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
  nb::class_<PyFunction>(module, "Function",
                         "A function of a device. Call it with arrays, tensors of the device and numbers, in the order "
                         "of its inputs or by name.")
      .def("__call__", call, nb::sig("def __call__(self, *args: typing.Any, **named: typing.Any) -> typing.Any"))
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
          [](const PyFunction& function) { return 1e-9 * static_cast<double>(function.function->last_elapsed_ns()); },
          "How long the last call ran on the device, in seconds; bench() measures.");
}

}  // namespace ferry::python
