// Tensors and what computes them, and programs made of them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>

#include "ferry/compile.h"
#include "ferry/measure.h"
#include "host/python/bindings.h"
#include "host/python/interruptible.h"
#include "host/python/session.h"
#include "host/python/te.h"

namespace nb = nanobind;

namespace ferry::python {

namespace {

using ir::Expr;
using lang::Tensor;

Expr element_of(const Tensor& tensor, nb::handle index) {
  if (nb::isinstance<nb::tuple>(index)) return tensor.at(exprs_of(index));
  return tensor.at({expr_of(index)});
}

std::vector<lang::ReduceAxis> reduce_axes(const std::vector<PyAxis>& axes) {
  std::vector<lang::ReduceAxis> all;
  for (const PyAxis& axis : axes) all.emplace_back(axis.axis);
  return all;
}

ir::ReduceOp reduction_named(const std::string& name) {
  using ir::ReduceOp;
  constexpr std::pair<const char*, ReduceOp> kNames[] = {{"sum", ReduceOp::sum}, {"prod", ReduceOp::prod},
                                                         {"min", ReduceOp::min}, {"max", ReduceOp::max},
                                                         {"any", ReduceOp::any}, {"all", ReduceOp::all}};
  for (const auto& [known, op] : kNames)
    if (name == known) return op;
  throw UsageError("expected a reduction such as sum, got '" + name + "'");
}

// Python's functions may be called until the reduction is made, not after it.
lang::CommReducer reducer_of(const nb::object& combine, const nb::object& identity, const std::string& name) {
  return lang::comm_reducer(
      [&combine](const std::vector<Expr>& left, const std::vector<Expr>& right) {
        return exprs_of(combine(nb::cast(left), nb::cast(right)));
      },
      [&identity](const std::vector<ir::Type>& types) {
        std::vector<Expr> values;
        nb::list names;
        for (const ir::Type& type : types) names.append(ir::to_text(type));
        const nb::object given = identity(names);
        std::size_t i = 0;
        for (nb::handle value : given) {
          const ir::ExprOrLiteral operand = operand_of(value);
          values.push_back(i < types.size() && operand.is_literal() ? operand.as(types[i].code) : operand.expr());
          ++i;
        }
        return values;
      },
      name);
}

std::vector<Tensor> computed(const std::vector<PyAxis>& axes, nb::handle values, const std::string& name,
                             const std::vector<std::string>& outputs) {
  std::vector<ir::Axis> all;
  for (const PyAxis& axis : axes) all.push_back(axis.axis);
  return lang::compute_over(std::move(all), exprs_of(values), name, outputs);
}

Tensor scattered(const Tensor& before, nb::handle updates, std::size_t along, const std::string& how,
                 const nb::object& element, const std::string& name) {
  constexpr std::pair<const char*, lang::Update> kNames[] = {{"set", lang::Update::set},
                                                             {"sum", lang::Update::sum},
                                                             {"prod", lang::Update::prod},
                                                             {"min", lang::Update::min},
                                                             {"max", lang::Update::max}};
  for (const auto& [known, update] : kNames) {
    if (how != known) continue;
    return lang::scatter(
        before, exprs_of(updates), along, update,
        [&](const std::vector<Expr>& at) {
          const auto [place, value, condition] =
              nb::cast<std::tuple<nb::object, nb::object, nb::object>>(nb::tuple(element(*nb::tuple(nb::cast(at)))));
          return lang::ScatterElement{exprs_of(place), expr_of(value),
                                      condition.is_none() ? Expr() : expr_of(condition)};
        },
        name);
  }
  throw UsageError("expected set, sum, prod, min or max as what an update does, got '" + how + "'");
}

Expr or_none(const std::optional<Expr>& expr) { return expr ? *expr : Expr(); }

// Applies the last line of a text whose other lines have been applied, with those of the values that it has knobs for.
// Returns the knobs with what there is to choose from.
std::map<std::string, std::vector<std::string>> apply_last(PySchedule& self, const std::string& text,
                                                           const schedule::KnobValues& values) {
  const schedule::DirectiveList list = schedule::parse_directives(text);
  std::map<std::string, std::vector<std::string>> knobs;
  schedule::KnobValues known;
  for (const schedule::Knob& knob : list.knobs) {
    knobs[knob.name] = knob.choices;
    if (const auto value = values.find(knob.name); value != values.end()) known.insert(*value);
  }
  schedule::Directive last = bind_knobs(list, known).back();
  last.line = 0;
  self.schedule.apply(std::move(last));
  return knobs;
}

}  // namespace

void bind_programs(nb::module_& module) {
  nb::class_<Tensor>(module, "SymbolicTensor", "A tensor of a program: an argument, or one that is computed.")
      .def("__getitem__", element_of,
           nb::sig("def __getitem__(self, index: Expr | int | tuple[Expr | int, ...], /) -> Expr"),
           "The element at an index, or at as many as the tensor has dimensions.")
      .def(
          "__call__", [](const Tensor& self, const nb::args& index) { return self.at(exprs_of(index)); },
          nb::sig("def __call__(self, *index: Expr | int) -> Expr"), "The element at these indices.")
      .def_prop_ro("name", &Tensor::name, "Its name.")
      .def_prop_ro(
          "dtype", [](const Tensor& self) { return std::string(dtype_name(self.dtype())); },
          "The type of its elements: \"f32\".")
      .def_prop_ro(
          "shape", [](const Tensor& self) { return nb::tuple(nb::cast(self.shape())); },
          nb::sig("def shape(self) -> tuple[Expr, ...]"), "Its sizes.")
      .def("__repr__", [](const Tensor& self) {
        std::string sizes;
        for (const Expr& size : self.shape()) sizes += (sizes.empty() ? "" : ",") + ir::to_text(size);
        return "<te.Tensor " + self.name() + " " + dtype_name(self.dtype()) + "[" + sizes + "]>";
      });
  module.def("_placeholder",
             [](nb::handle shape, const std::string& dtype, const std::string& name, nb::handle strides) {
               return lang::placeholder(exprs_of(shape), dtype_of_name(dtype), name, exprs_of(strides));
             });
  module.def("_compute", computed);
  module.def("_update", [](const Tensor& before, const nb::object& element, const std::string& name) {
    return lang::update(
        before, [&](const std::vector<Expr>& index) { return expr_of(element(*nb::tuple(nb::cast(index)))); }, name);
  });
  module.def("_scan", [](nb::handle shape, const std::string& dtype, std::size_t along, const nb::object& element,
                         const std::string& name) {
    return lang::scan(
        exprs_of(shape), dtype_of_name(dtype), along,
        [&](const std::vector<Expr>& index, const Tensor& self) {
          return expr_of(element(self, *nb::tuple(nb::cast(index))));
        },
        name);
  });
  module.def("_scatter", scattered);
  module.def("_reduce", [](const std::string& op, nb::handle source, const std::vector<PyAxis>& axes,
                           const std::optional<Expr>& where, const std::optional<nb::object>& start) {
    return lang::reduce(reduction_named(op), expr_of(source), reduce_axes(axes), or_none(where),
                        start ? expr_of(*start) : Expr());
  });
  module.def("_reduce_by", [](const nb::object& combine, const nb::object& identity, const std::string& name,
                              nb::handle sources, const std::vector<PyAxis>& axes, const std::optional<Expr>& where,
                              nb::handle start) {
    return reducer_of(combine, identity, name)(exprs_of(sources), reduce_axes(axes), or_none(where), exprs_of(start));
  });
  const auto pair_over = [&module](const char* name,
                                   std::vector<Expr> (*over)(Expr, Expr, const std::vector<lang::ReduceAxis>&, Expr)) {
    module.def(name, [over](nb::handle value, nb::handle index, const std::vector<PyAxis>& axes,
                            const std::optional<Expr>& where) {
      return over(expr_of(value), expr_of(index), reduce_axes(axes), or_none(where));
    });
  };
  pair_over("_argmax", lang::argmax_over);
  pair_over("_argmin", lang::argmin_over);
  module.def("_moments", [](nb::handle value, const std::vector<PyAxis>& axes, const std::optional<Expr>& where) {
    return lang::moments_over(expr_of(value), reduce_axes(axes), or_none(where));
  });

  nb::class_<lang::Parameter>(module, "_Parameter");
  module.def("_in", lang::in);
  module.def("_constant", lang::constant);
  module.def("_out", [](const Tensor& tensor, nb::handle strides) { return lang::out(tensor, exprs_of(strides)); });
  module.def("_inout", lang::inout);
  module.def("_scalar", lang::scalar);
  nb::class_<PyProgram>(module, "_Program").def_prop_ro("name", [](const PyProgram& self) {
    return self.program.name;
  });
  module.def(
      "_program",
      [](const std::string& name, const std::vector<lang::Parameter>& parameters,
         const std::vector<std::pair<Expr, std::string>>& conditions, const PyContext* own) {
        std::vector<ir::Requirement> requirements;
        for (const auto& [condition, message] : conditions) requirements.push_back(lang::require(condition, message));
        const auto context = own == nullptr ? nullptr : std::make_shared<const Context>(own->context);
        return PyProgram{lang::make_program(name, parameters, std::move(requirements), context)};
      },
      nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
}

void bind_schedules(nb::module_& module) {
  nb::class_<PySchedule>(module, "_Schedule")
      .def("apply", apply_last)
      .def("text", [](const PySchedule& self) { return self.schedule.to_text(); })
      .def("emit",
           [](const PySchedule& self, const std::string& stage, const std::string& to, const std::string& after) {
             const nb::gil_scoped_release released;
             return emit(stage, self.program, self.schedule, target(to), after);
           })
      .def("compile",
           [](const PySchedule& self, const std::string& to) {
             const auto work = [program = self.program, schedule = self.schedule, to] {
               return compile(program, schedule, target(to), schedule.to_text());
             };
             return without_python([&] { return interruptible(work); });
           })
      .def("check", [](const PySchedule& self, const std::vector<std::string>& sizes, std::uint64_t seed, bool thorough,
                       const std::string& to) {
        ProgramCheck request;
        request.call = {{}, sizes, seed};
        request.thorough = thorough;
        request.target = to;
        const nb::gil_scoped_release released;
        return check(self.program, self.schedule, request);
      });
  module.def("_schedule",
             [](const PyProgram& program) { return PySchedule{program.program, schedule::Schedule(program.program)}; });
  module.def("_default_schedule",
             [](const PyProgram& program, const std::string& to, const std::map<std::string, std::int64_t>& sizes) {
               const nb::gil_scoped_release released;
               return PySchedule{program.program, autoschedule::default_schedule(program.program, target(to), sizes)};
             });
}

}  // namespace ferry::python
