#include "host/python/calls.h"

#include <nanobind/stl/string.h>

#include <string>

#include "host/python/taken_array.h"
#include "module/manifest.h"

namespace nb = nanobind;

namespace ferry::python {

namespace {

constexpr const char* kOut = "out";

[[noreturn]] void refuse(const PyFunction& function, const std::string& why) {
  throw nb::type_error((why + ": " + function.function->signature()).c_str());
}

bool has_parameter(const FunctionInfo& info, const char* name) {
  for (const ParameterInfo& parameter : info.parameters)
    if (parameter.name == name) return true;
  return false;
}

// Distributes what was given as `out` over the parameters that the function writes.
void match_outs(const PyFunction& function, nb::handle given, MatchedArguments& matched) {
  const std::vector<ParameterInfo>& parameters = function.function->info().parameters;
  std::vector<std::size_t> written;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].direction != Direction::in) written.push_back(i);
  const bool are_several = nb::isinstance<nb::tuple>(given) || nb::isinstance<nb::list>(given);
  const std::size_t count = are_several ? nb::len(given) : 1;
  if (count != written.size())
    refuse(function, "out: expected " + std::to_string(written.size()) + " arrays, got " + std::to_string(count));
  for (std::size_t k = 0; k < count; ++k) {
    // An item of a tuple or a list stays alive as long as that, which the caller holds.
    const nb::object item = are_several ? nb::object(given[k]) : nb::borrow(given);
    const std::size_t i = written[k];
    if (parameters[i].direction == Direction::out && matched.values[i].is_valid())
      refuse(function, "the result " + parameters[i].name + " is given twice");
    matched.outs[i] = item;
    if (parameters[i].direction == Direction::out) matched.values[i] = item;
  }
}

bool is_same(const PyTensor& a, const PyTensor& b) { return &a->shape() == &b->shape(); }

void read_into(const PyTensor& result, nb::handle out, const std::string& name) {
  const WritableArray array(out, name);
  array.expect(result->dtype(), result->shape(), name);
  result.session()->run([&](const Device&) { result->read(array.data()); });
}

}  // namespace

MatchedArguments matched_arguments(const PyFunction& function, const nb::args& given, const nb::kwargs& named) {
  const FunctionInfo& info = function.function->info();
  const std::vector<ParameterInfo>& parameters = info.parameters;
  const bool has_out = named.size() != 0 && named.contains(kOut) && !has_parameter(info, kOut);
  const std::size_t count = given.size() + named.size() - (has_out ? 1 : 0);
  const bool with_outputs = count == parameters.size();
  MatchedArguments matched;
  matched.values.resize(parameters.size());
  matched.outs.resize(parameters.size());
  std::size_t taken = 0, named_found = 0, expected = 0;
  for (const ParameterInfo& parameter : parameters)
    expected += with_outputs || parameter.direction != Direction::out ? 1 : 0;
  if (count != expected)
    refuse(function, "expected " + std::to_string(expected) + " arguments, got " + std::to_string(count));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!with_outputs && parameters[i].direction == Direction::out) continue;
    if (taken < given.size()) {
      matched.values[i] = PyTuple_GetItem(given.ptr(), static_cast<Py_ssize_t>(taken));
    } else {
      const char* const name = parameters[i].name.c_str();
      if (!named.contains(name)) refuse(function, "expected a value for " + parameters[i].name);
      matched.values[i] = nb::object(named[name]);
      ++named_found;
    }
    ++taken;
    if (parameters[i].direction == Direction::out) matched.outs[i] = matched.values[i];
  }
  if (named_found + (has_out ? 1 : 0) != named.size())
    refuse(function, "an argument is named that is not a parameter, or given twice");
  if (has_out) {
    const nb::object out = named[kOut];
    if (!out.is_none()) match_outs(function, out, matched);
  }
  return matched;
}

BorrowedArguments borrowed_arguments(const PyFunction& function, const MatchedArguments& matched) {
  const std::vector<ParameterInfo>& parameters = function.function->info().parameters;
  // The client takes either all outputs or none.
  bool with_outputs = true;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].direction == Direction::out)
      with_outputs = with_outputs && matched.values[i].is_valid() && nb::isinstance<PyTensor>(matched.values[i]);
  }
  BorrowedArguments all;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!with_outputs && parameters[i].direction == Direction::out) continue;
    all.owners.push_back(borrowed_argument(matched.values[i], parameters[i]));
    all.arguments.push_back(all.owners.back().argument);
  }
  return all;
}

nb::object one_or_tuple(const nb::list& results) {
  if (results.size() == 1) return nb::object(results[0]);
  return nb::tuple(results);
}

nb::object call_by_messages(const PyFunction& function, const MatchedArguments& matched) {
  const std::vector<ParameterInfo>& parameters = function.function->info().parameters;
  const BorrowedArguments arguments = borrowed_arguments(function, matched);
  const std::shared_ptr<Session>& session = function.function.session();
  const std::vector<DeviceTensor> outputs =
      session->run([&](const Device&) { return function.function->call(arguments.arguments); });
  nb::list results;
  std::size_t next = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].direction == Direction::in) continue;
    const PyTensor result(session, outputs.at(next++));
    if (!matched.outs[i].is_valid()) {
      results.append(nb::cast(result));
      continue;
    }
    if (!nb::isinstance<PyTensor>(matched.outs[i])) {
      read_into(result, matched.outs[i], parameters[i].name);
    } else if (const auto& out = nb::cast<const PyTensor&>(matched.outs[i]); !is_same(out, result)) {
      session->run([&](const Device&) { result->copy_to(*out); });
    }
    results.append(matched.outs[i]);
  }
  return one_or_tuple(results);
}

}  // namespace ferry::python
