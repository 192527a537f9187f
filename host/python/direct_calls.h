// Calls on a device in this process: arrays are used where they lie, and a call takes a microsecond.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "host/client/direct_call.h"
#include "host/python/calls.h"
#include "host/python/session.h"
#include "host/python/taken_array.h"

namespace ferry::python {

// The last call of a function, which the next one of the same sizes repeats with other arrays. Guarded by the session.
struct DirectFunction {
  std::shared_ptr<session::DirectModule> module;
  std::size_t index = 0;  // the number of the function
  std::vector<session::DirectArgument> arguments = {};
  std::vector<Shape> shapes = {};
  std::unique_ptr<session::DirectCall> call = {};
  double seconds = 0;  // how long it ran
};

// Calls the function; an invalid object if it cannot be called directly.
nanobind::object call_directly(const PyFunction& function, const MatchedArguments& matched);

// A function with its arguments, which the object keeps. Each call reads them as they are then.
class PyBoundCall {
 public:
  PyBoundCall(const PyFunction& function, const nanobind::args& given, const nanobind::kwargs& named);
  nanobind::object call();
  const PyFunction& function() const { return function_; }

 private:
  using HeldCall = Held<std::shared_ptr<session::DirectCall>>;

  const PyFunction function_;
  const nanobind::args given_;
  const nanobind::kwargs named_;
  std::vector<TakenArray> arrays_;
  std::unique_ptr<HeldCall> direct_;  // null: the call takes messages
  nanobind::object results_;
};

}  // namespace ferry::python
