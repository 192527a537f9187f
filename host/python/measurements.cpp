// Measuring, checking and comparing functions; ferry/measurements.py prints and draws the results.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "ferry/measure.h"
#include "host/python/bindings.h"
#include "host/python/calls.h"
#include "host/python/forwarded.h"
#include "host/python/session.h"

namespace nb = nanobind;

namespace ferry::python {
namespace {

using bench::KernelComparison;
using bench::Measurement;

// The samples that a measurement takes, in the words of the command line.
void set_sampling(bench::SamplingOptions& sampling, std::uint32_t repeat, double min_repeat_ms, std::uint32_t threads,
                  bool cold, bool warm) {
  sampling.bench.repeat = repeat;
  sampling.bench.max_repeat = std::max(sampling.bench.max_repeat, repeat);
  sampling.bench.min_repeat_ms = cold ? 0 : min_repeat_ms;
  if (cold) sampling.bench.number = 1;
  sampling.bench.threads = threads;
  sampling.bench.cold = cold;
  sampling.fresh_inputs = !warm;
}

Measurement measured(const PyFunction& function, const nb::args& given, std::uint32_t repeat, double min_repeat_ms,
                     std::uint32_t threads, bool cold, bool warm, bool peak, const nb::kwargs& named) {
  const BorrowedArguments arguments = borrowed_arguments(function, matched_arguments(function, given, named));
  bench::MeasureOptions options;
  set_sampling(options.sampling, repeat, min_repeat_ms, threads, cold, warm);
  options.peak = peak;
  return function.function.session()->run([&](const Device& device) {
    return measure(device, *function.module.loaded, function.name, arguments.arguments, options);
  });
}

// The kernel of a function as the services take it: what it was compiled of, or, if it was loaded as it was compiled
// elsewhere, a temporary file of its module, which contains the definition too.
class NamedKernel {
 public:
  explicit NamedKernel(const PyFunction& function) {
    if (function.module.kernel) {
      options_ = *function.module.kernel;
    } else {
      std::string pattern = (std::filesystem::temp_directory_path() / "ferry-module-XXXXXX").string();
      if (mkdtemp(pattern.data()) == nullptr)
        throw Error(ErrorCode::resource_exhausted, "cannot make the folder " + pattern + ": " + strerror(errno));
      folder_ = pattern;
      options_.file = (folder_ / (function.name + ".ferry")).string();
      try {
        function.module.compiled.save(options_.file);
      } catch (...) {
        remove();
        throw;
      }
    }
    options_.function = function.name;
  }
  NamedKernel(const NamedKernel&) = delete;
  NamedKernel& operator=(const NamedKernel&) = delete;
  ~NamedKernel() { remove(); }

  const KernelOptions& options() const { return options_; }

 private:
  void remove() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  KernelOptions options_;
  std::filesystem::path folder_;  // empty: none
};

verify::CheckReport checked(const PyFunction& function, const CallOptions& call, bool thorough) {
  const NamedKernel kernel(function);
  verify::CheckRequest request;
  request.kernel = kernel.options();
  request.call = call;
  request.thorough = thorough;
  return function.function.session()->run([&](const Device& device) { return check(device, request); });
}

verify::CheckReport checked_results(const PyFunction& function, const CallOptions& call,
                                    const std::vector<std::string>& results, bool are_random,
                                    std::optional<double> rtol, std::optional<double> atol) {
  const NamedKernel kernel(function);
  verify::CheckRequest request;
  request.kernel = kernel.options();
  request.call = call;
  request.limits.rtol = rtol;
  request.limits.atol = atol;
  const nb::gil_scoped_release released;
  return check_given(request, results, are_random);
}

KernelComparison compared(const PyFunction& a, const PyFunction& b, const CallOptions& call, std::uint32_t processes,
                          double least_effect, std::uint32_t threads, bool warm) {
  bench::CompareOptions options;
  options.call = call;
  options.processes = processes;
  options.least_effect = least_effect;
  options.sampling.bench.threads = threads;
  options.sampling.fresh_inputs = !warm;
  const NamedKernel of_a(a), of_b(b);
  return a.function.session()->run(
      [&](const Device&) { return compare(a.function.session()->open(), of_a.options(), of_b.options(), options); });
}

// Measures the function in sessions of its own at every point of the sweeps. Returns what was measured, and why the
// rest was not.
std::pair<std::vector<Measurement>, std::vector<std::string>> swept(const PyFunction& function, const CallOptions& call,
                                                                    const std::vector<std::string>& sweeps,
                                                                    std::uint32_t repeat, double min_repeat_ms,
                                                                    std::uint32_t threads, bool cold, bool warm,
                                                                    bool peak) {
  bench::MeasureOptions options;
  set_sampling(options.sampling, repeat, min_repeat_ms, threads, cold, warm);
  options.peak = peak;
  std::vector<bench::Sweep> ranges;
  for (const std::string& text : sweeps) ranges.push_back(bench::parse_sweep(text));
  Observer observer;
  observer.is_interrupted = is_interrupted;
  const NamedKernel kernel(function);
  const MeasureRequest request{.kernel = kernel.options(), .call = call};
  bench::Measurements found = function.function.session()->run([&](const Device& device) {
    const bench::NamedDevice named{device.name(), function.function.session()->open()};
    return measure_on({&named, 1}, request, ranges, options, observer);
  });
  std::vector<std::string> failures;
  for (const bench::FailedDevice& failed : found.failures) {
    try {
      std::rethrow_exception(failed.error);
    } catch (const Error& error) {
      if (found.done.empty()) throw;
      failures.emplace_back(error.what());
    }
  }
  return {std::move(found.done), std::move(failures)};
}

CallOptions call_options(std::vector<std::string> arguments, std::vector<std::string> sizes, std::uint64_t seed) {
  return {std::move(arguments), std::move(sizes), seed};
}

std::pair<double, double> ends(const stats::Interval& interval) { return {interval.low, interval.high}; }

void bind_measurement(nb::module_& module) {
  nb::class_<Measurement>(module, "Measurement", "Times of a function on a device, and how they were taken.")
      .def_prop_ro(
          "function", [](const Measurement& one) { return one.function.name; }, "The function's name.")
      .def_prop_ro(
          "signature", [](const Measurement& one) { return one.function.signature; }, "Its parameters.")
      .def_prop_ro(
          "sizes",
          [](const Measurement& one) {
            nb::typed<nb::dict, nb::str, nb::int_> sizes;
            for (const auto& [name, size] : one.function.sizes) sizes[name.c_str()] = size;
            return sizes;
          },
          "Sizes of the call by name.")
      .def_ro("knobs", &Measurement::knobs,
              "The values of the schedule's knobs by name; \"point\": those of the default schedule.")
      .def_ro("device", &Measurement::device, "The device's name.")
      .def_ro("processor", &Measurement::processor, "The processor that ran the function.")
      .def_ro("target", &Measurement::target, "The target that it was compiled for.")
      .def_prop_ro(
          "seconds", [](const Measurement& one) { return one.timing.seconds; }, "Seconds a call, of each sample.")
      .def_prop_ro(
          "median", [](const Measurement& one) { return one.timing.median(); },
          "The median of the samples, in seconds.")
      .def_prop_ro(
          "minimum", [](const Measurement& one) { return one.timing.minimum(); }, "The least sample, in seconds.")
      .def_prop_ro(
          "first_call", [](const Measurement& one) { return one.timing.first_s; },
          "Seconds of the first call in its process; 0 if the device does not say.")
      .def_prop_ro(
          "interval", [](const Measurement& one) { return ends(one.interval()); },
          "The 95% confidence interval of the median, in seconds.")
      .def_prop_ro(
          "instructions", [](const Measurement& one) { return one.timing.instructions; },
          "Instructions of a call; not a number where the device does not count them.")
      .def_ro("flops", &Measurement::flops, "Operations of a call; 0: unknown.")
      .def_ro("bytes", &Measurement::bytes, "Bytes that a call reads and writes, each tensor counted once; 0: unknown.")
      .def_prop_ro("share_of_flops", &Measurement::share_of_flops,
                   "The rate of operations over the device's measured peak; None if that was not measured.")
      .def_prop_ro("share_of_bytes", &Measurement::share_of_bytes,
                   "The rate of bytes over the device's measured peak; None if that was not measured.")
      .def_prop_ro(
          "inputs", [](const Measurement& one) { return one.method.inputs; },
          "\"fresh\": each call had inputs that it had not seen; \"repeated\" or \"restored\": the same ones.")
      .def_prop_ro(
          "cache", [](const Measurement& one) { return one.method.cache; },
          "The state of the caches before a sample: \"warm\", \"flushed\" or \"wiped\".")
      .def_prop_ro(
          "isolation", [](const Measurement& one) { return one.method.isolation; },
          "How the function was kept away from what measured it: \"notify\", \"trace\", \"pipe\" or \"none\".")
      .def_prop_ro("impossible", &Measurement::impossible, "Why the times cannot be true; empty if they can.")
      .def_prop_ro("warnings", &Measurement::warnings, "Why the times should not be trusted, in sentences.")
      .def("__repr__", forwarded("ferry.measurements", "line"), nb::sig("def __repr__(self) -> str"))
      .def("_repr_html_", forwarded("ferry.measurements", "table"), nb::sig("def _repr_html_(self) -> str"))
      .def("plot", forwarded("ferry.measurements", "plot"), nb::sig("def plot(self) -> typing.Any"),
           "Draws the samples in order, with the median and its interval, with matplotlib; returns the axes.");
}

void bind_comparison(nb::module_& module) {
  nb::class_<KernelComparison>(module, "Comparison", "Which of two functions is faster, and by how much.")
      .def_prop_ro(
          "verdict",
          [](const KernelComparison& one) {
            switch (one.times.verdict) {
              case stats::Verdict::a_slower: return "a slower";
              case stats::Verdict::b_slower: return "b slower";
              case stats::Verdict::no_difference: return "no difference";
              case stats::Verdict::unknown: break;
            }
            return "unknown";
          },
          "\"a slower\", \"b slower\", \"no difference\" or \"unknown\".")
      .def_prop_ro(
          "ratio", [](const KernelComparison& one) { return one.times.ratio; },
          "The time of a over that of b: the geometric mean over the processes.")
      .def_prop_ro(
          "interval", [](const KernelComparison& one) { return std::pair(one.times.low, one.times.high); },
          "The 99% confidence interval of the ratio.")
      .def_prop_ro(
          "ratios",
          [](const KernelComparison& one) {
            std::vector<double> ratios;
            for (const bench::ComparedProcess& process : one.processes) ratios.push_back(std::exp(process.log_ratio));
            return ratios;
          },
          "The ratio in each process.")
      .def_prop_ro(
          "medians", [](const KernelComparison& one) { return std::pair(one.median(0), one.median(1)); },
          "Seconds a call of a and of b.")
      .def_prop_ro("difference", &KernelComparison::difference,
                   "How the results differ, or one is wrong by definition; empty if neither.")
      .def_prop_ro("impossible", &KernelComparison::impossible, "Why the times cannot be true; empty if they can.")
      .def_prop_ro("warnings", &KernelComparison::warnings, "Why the result should not be trusted, in sentences.")
      .def("_text",
           [](const KernelComparison& one, double least_effect) { return stats::to_text(one.times, least_effect); })
      .def("__repr__", forwarded("ferry.measurements", "compared_line"), nb::sig("def __repr__(self) -> str"))
      .def("_repr_html_", forwarded("ferry.measurements", "compared_table"), nb::sig("def _repr_html_(self) -> str"))
      .def("plot", forwarded("ferry.measurements", "compared_plot"), nb::sig("def plot(self) -> typing.Any"),
           "Draws the ratio in each process, with matplotlib; returns the axes.");
}

}  // namespace

void bind_measurements(nb::module_& module) {
  bind_measurement(module);
  bind_comparison(module);
  nb::class_<verify::CheckReport>(module, "CheckReport", "What a call computed, against its definition.")
      .def_prop_ro("is_fine", &verify::CheckReport::is_fine)
      .def_prop_ro(
          "mistake",
          [](const verify::CheckReport& report) {
            return report.mistake.empty() ? report.findings.mistake() : report.mistake;
          },
          "The first mistake, such as \"C[3,4] is 1.5, expected 1.25\"; empty if there is none.")
      .def_prop_ro(
          "warnings", [](const verify::CheckReport& report) { return report.findings.warnings; },
          "Why the check says little, in sentences.")
      .def("__repr__", forwarded("ferry.measurements", "checked_line"), nb::sig("def __repr__(self) -> str"));
  nb::class_<CallOptions>(module, "_CallOptions").def_static("make", call_options);
  module.def(
      "_bench", measured, nb::arg("function"), nb::arg("given"), nb::arg("repeat"), nb::arg("min_repeat_ms"),
      nb::arg("threads"), nb::arg("cold"), nb::arg("warm"), nb::arg("peak"), nb::arg("named"),
      nb::sig("def _bench(function: Function, *given: typing.Any, repeat: int, min_repeat_ms: float, threads: int, "
              "cold: bool, warm: bool, peak: bool, **named: typing.Any) -> Measurement"));
  module.def("_check", checked);
  module.def("_check_results", checked_results, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
             nb::arg().none());
  module.def("_compare", compared);
  module.def("_sweep", swept);
}

}  // namespace ferry::python
