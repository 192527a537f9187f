#include "host/python/direct_calls.h"

#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "host/client/direct_call.h"
#include "module/manifest.h"

namespace nb = nanobind;

namespace ferry::python {

namespace {

using session::DirectArgument;

struct Copy {
  void* to = nullptr;
  const void* from = nullptr;
  std::uint64_t bytes = 0;
};

// The arguments of one direct call.
struct DirectArguments {
  std::vector<DirectArgument> all;  // one for each parameter
  std::vector<TakenArray> arrays;   // these hold the memory of arrays
  std::vector<Copy> copies;         // what is copied before the call
};

bool is_allocated(const ParameterInfo& parameter, nb::handle value) {
  return parameter.direction == Direction::out && !value.is_valid();
}

// Takes an array as it lies. Returns false if that is not possible, so that the call takes messages, which copy it or
// say what is wrong with it.
bool take_array(nb::handle value, const ParameterInfo& parameter, Access access, DirectArguments& into,
                DirectArgument& argument) {
  TakenArray& array = into.arrays.emplace_back();
  if (!array.take(value, access) || array.dtype() != parameter.dtype || !array.is_dense()) return false;
  argument.memory = array.data();
  argument.shape.dtype = array.dtype();
  argument.shape.shape.assign(array.sizes(), array.sizes() + array.rank());
  return true;
}

bool take_tensor(const PyTensor& tensor, const PyFunction& function, DirectArgument& argument) {
  if (tensor.session() != function.function.session() || !tensor->strides().empty()) return false;
  argument.memory = session::address_of(*tensor);
  argument.shape.dtype = tensor->dtype();
  argument.shape.shape = tensor->shape();
  return true;
}

bool take_number(nb::handle value, const PyFunction& function, std::size_t i, DirectArgument& argument) {
  const ParameterInfo& parameter = function.function->info().parameters[i];
  const BorrowedArgument given = borrowed_argument(value, parameter);
  const auto* scalar = std::get_if<Argument::Scalar>(&given.argument.value());
  if (scalar == nullptr) return false;
  const DirectFunction& direct = ***function.direct;
  argument.shape.kind = ParameterKind::scalar;
  argument.shape.dtype = parameter.dtype;
  argument.scalar_bits = direct.module->scalar_bits(direct.index, i, *scalar);
  argument.shape.scalar = static_cast<std::int64_t>(argument.scalar_bits);
  return true;
}

bool is_aligned(const DirectFunction& direct, const DirectArgument& argument) {
  constexpr std::uintptr_t kTensorAlignment = 64;
  return reinterpret_cast<std::uintptr_t>(argument.memory) % kTensorAlignment == 0 || direct.module->takes_unaligned();
}

// Returns nothing if the call has to take messages.
std::optional<DirectArguments> direct_arguments(const PyFunction& function, const MatchedArguments& matched) {
  const std::vector<ParameterInfo>& parameters = function.function->info().parameters;
  const DirectFunction& direct = ***function.direct;
  DirectArguments into;
  into.all.resize(parameters.size());
  into.arrays.reserve(2 * parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ParameterInfo& parameter = parameters[i];
    const nb::handle value = matched.values[i], out = matched.outs[i];
    DirectArgument& argument = into.all[i];
    if (is_allocated(parameter, value)) continue;
    if (parameter.kind == ParameterKind::scalar) {
      if (!take_number(value, function, i, argument)) return std::nullopt;
      continue;
    }
    const bool is_inout = parameter.direction == Direction::inout;
    // Changes of an array stay in it only if the caller says so.
    if (is_inout && !nb::isinstance<PyTensor>(value) && !out.is_valid()) return std::nullopt;
    const nb::handle used = is_inout && out.is_valid() ? out : value;
    if (nb::isinstance<PyTensor>(used)) {
      if (!take_tensor(nb::cast<const PyTensor&>(used), function, argument)) return std::nullopt;
    } else {
      const Access access = parameter.direction == Direction::in ? Access::read : Access::write;
      if (!take_array(used, parameter, access, into, argument)) return std::nullopt;
    }
    if (!is_aligned(direct, argument)) return std::nullopt;
    if (!used.is(value)) {
      DirectArgument from;
      const bool is_taken = nb::isinstance<PyTensor>(value)
                                ? take_tensor(nb::cast<const PyTensor&>(value), function, from)
                                : take_array(value, parameter, Access::read, into, from);
      if (!is_taken || from.shape.shape != argument.shape.shape || from.shape.dtype != argument.shape.dtype)
        return std::nullopt;
      if (from.memory != argument.memory)
        into.copies.push_back(
            {argument.memory, from.memory, dense_bytes(argument.shape.dtype, argument.shape.shape).value_or(0)});
    }
  }
  return into;
}

// Whether a call that was bound for `then` fits these arguments, whose outputs may be missing.
bool is_alike(const FunctionInfo& info, const std::vector<DirectArgument>& then, const std::vector<DirectArgument>& now,
              const MatchedArguments& matched) {
  if (then.size() != now.size()) return false;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const ParameterInfo& parameter = info.parameters[i];
    if (is_allocated(parameter, matched.values[i])) continue;
    // An integer may be a size.
    if (parameter.kind == ParameterKind::scalar) {
      if (parameter.dtype == DType::i64 && then[i].scalar_bits != now[i].scalar_bits) return false;
    } else if (then[i].shape.dtype != now[i].shape.dtype || then[i].shape.shape != now[i].shape.shape) {
      return false;
    }
  }
  return true;
}

// Returns the shape of each parameter.
std::vector<Shape> shapes_of(const PyFunction& function, const DirectArguments& given,
                             const MatchedArguments& matched) {
  const DirectFunction& direct = ***function.direct;
  const std::vector<ParameterInfo>& parameters = function.function->info().parameters;
  std::vector<Argument> known;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].direction == Direction::out) continue;
    const DirectArgument& argument = given.all[i];
    if (parameters[i].kind == ParameterKind::scalar) {
      known.push_back(borrowed_argument(matched.values[i], parameters[i]).argument);
    } else {
      known.emplace_back(View{argument.shape.dtype, argument.shape.shape, argument.memory});
    }
  }
  return direct.module->shapes(direct.index, known);
}

// Gives outputs that were not passed a tensor each.
void allocate(const Device& device, const FunctionInfo& info, const std::vector<Shape>& shapes,
              const MatchedArguments& matched, DirectArguments& given, std::vector<DeviceTensor>& made) {
  for (std::size_t i = 0; i < given.all.size(); ++i) {
    if (!is_allocated(info.parameters[i], matched.values[i])) continue;
    made.push_back(device.empty(info.parameters[i].dtype, shapes[i]));
    given.all[i].memory = session::address_of(made.back());
    given.all[i].shape.dtype = info.parameters[i].dtype;
    given.all[i].shape.shape = shapes[i];
  }
}

nb::object results_of(const PyFunction& function, const MatchedArguments& matched,
                      const std::vector<DeviceTensor>& made) {
  const std::vector<ParameterInfo>& parameters = function.function->info().parameters;
  nb::list results;
  std::size_t next = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].direction == Direction::in) continue;
    if (is_allocated(parameters[i], matched.values[i])) {
      results.append(nb::cast(PyTensor(function.function.session(), made[next++])));
    } else {
      results.append(matched.outs[i].is_valid() ? matched.outs[i] : matched.values[i]);
    }
  }
  return one_or_tuple(results);
}

}  // namespace

nb::object call_directly(const PyFunction& function, const MatchedArguments& matched) {
  if (!function.direct) return {};
  std::optional<DirectArguments> given = direct_arguments(function, matched);
  if (!given) return {};
  DirectFunction& direct = ***function.direct;
  const FunctionInfo& info = function.function->info();
  std::vector<DeviceTensor> made;
  function.function.session()->run([&](const Device& device) {
    if (direct.call == nullptr || !direct.call->is_movable() ||
        !is_alike(info, direct.arguments, given->all, matched)) {
      direct.call.reset();
      direct.shapes = shapes_of(function, *given, matched);
      allocate(device, info, direct.shapes, matched, *given, made);
      direct.call = direct.module->prepare(direct.index, given->all);
      direct.arguments = given->all;
    } else {
      allocate(device, info, direct.shapes, matched, *given, made);
      for (std::size_t i = 0; i < given->all.size(); ++i) {
        if (info.parameters[i].kind == ParameterKind::scalar) {
          direct.call->set_scalar(i, given->all[i].scalar_bits);
        } else {
          direct.call->set_memory(i, given->all[i].memory);
        }
      }
      direct.call->check();
    }
    for (const Copy& copy : given->copies) std::memmove(copy.to, copy.from, copy.bytes);
    const auto begin = std::chrono::steady_clock::now();
    direct.call->run();
    direct.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  });
  return results_of(function, matched, made);
}

PyBoundCall::PyBoundCall(const PyFunction& function, const nb::args& given, const nb::kwargs& named)
    : function_(function), given_(given), named_(named) {
  const MatchedArguments matched = matched_arguments(function, given, named);
  if (!function.direct) {
    borrowed_arguments(function, matched);  // says now what is wrong with them
    return;
  }
  std::optional<DirectArguments> arguments = direct_arguments(function, matched);
  if (!arguments || !arguments->copies.empty()) return;
  const DirectFunction& direct = ***function.direct;
  const FunctionInfo& info = function.function->info();
  std::vector<DeviceTensor> made;
  std::shared_ptr<session::DirectCall> call;
  function.function.session()->run([&](const Device& device) {
    allocate(device, info, shapes_of(function, *arguments, matched), matched, *arguments, made);
    call = direct.module->prepare(direct.index, arguments->all);
  });
  direct_ = std::make_unique<HeldCall>(function.function.session(), std::move(call));
  arrays_ = std::move(arguments->arrays);
  results_ = results_of(function, matched, made);
}

nb::object PyBoundCall::call() {
  if (direct_ == nullptr) return call_by_messages(function_, matched_arguments(function_, given_, named_));
  session::DirectCall& call = ***direct_;
  direct_->session()->run([&](const Device&) { call.run(); });
  return results_;
}

}  // namespace ferry::python
