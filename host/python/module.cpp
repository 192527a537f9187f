// ferry._ferry: the part of the Python package that is written in C++. ferry/__init__.py is its face.
#include <nanobind/nanobind.h>

#include "host/python/bindings.h"
#include "host/python/dlpack_exchange.h"
#if FERRY_COMPILER
#include "host/python/te.h"
#endif

NB_MODULE(_ferry, module) {
  module.attr("_version") = FERRY_VERSION;
  module.attr("_has_compiler") = FERRY_COMPILER != 0;
  ferry::python::bind_errors(module);
  ferry::python::bind_tensors(module);
  ferry::python::bind_functions(module);
  ferry::python::bind_measurements(module);
  ferry::python::bind_devices(module);
  ferry::python::forget_types_at_exit();
#if FERRY_COMPILER
  ferry::python::bind_expressions(module);
  ferry::python::bind_intrinsics(module);
  ferry::python::bind_programs(module);
  ferry::python::bind_schedules(module);
#endif
}
