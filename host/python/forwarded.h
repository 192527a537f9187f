// Methods that are written in Python.
#pragma once

#include <nanobind/nanobind.h>

namespace ferry::python {

// A method that calls `function` of a module of the package with the object and the method's arguments.
inline auto forwarded(const char* module, const char* function) {
  return [module, function](nanobind::handle self, const nanobind::args& given, const nanobind::kwargs& named) {
    return nanobind::module_::import_(module).attr(function)(self, *given, **named);
  };
}

}  // namespace ferry::python
