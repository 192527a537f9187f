// ferry._ferry: the part of the Python package that is written in C++. ferry/__init__.py is its face.
#include <nanobind/nanobind.h>

#include "host/python/bindings.h"
#include "host/python/te.h"

NB_MODULE(_ferry, module) {
  module.attr("_version") = FERRY_VERSION;
  ferry::python::bind_errors(module);
  ferry::python::bind_tensors(module);
  ferry::python::bind_functions(module);
  ferry::python::bind_measurements(module);
  ferry::python::bind_devices(module);
  ferry::python::bind_expressions(module);
  ferry::python::bind_intrinsics(module);
  ferry::python::bind_programs(module);
  ferry::python::bind_schedules(module);
}
