// The parts of the extension module, each in a file of its own.
#pragma once

#include <nanobind/nanobind.h>

namespace ferry::python {

void bind_errors(nanobind::module_& module);
void bind_tensors(nanobind::module_& module);
void bind_functions(nanobind::module_& module);
void bind_measurements(nanobind::module_& module);
void bind_devices(nanobind::module_& module);

}  // namespace ferry::python
