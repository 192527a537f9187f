// Connections, and compiling for them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "ferry/compile.h"
#include "ferry/measure.h"
#include "host/python/arrays.h"
#include "host/python/bindings.h"
#include "host/python/forwarded.h"
#include "host/python/interruptible.h"
#include "host/python/session.h"

namespace nb = nanobind;

namespace ferry::python {
namespace {

// Where a session goes to if its board is leased with others.
struct PyBoard {
  SharedBoard board;
};

OpenSession opening(const std::string& address) {
  return [address](ConnectOptions options) {
    options.source_line = source_line;
    return address.empty() ? local_device(options) : connect(address, options);
  };
}

PyDevice connected(const std::string& address, const std::string& key_file, const std::vector<std::string>& devices,
                   double queue, const PyBoard* board) {
  const SharedBoard shared = board == nullptr ? nullptr : board->board;
  const OpenSession open = [open = opening(address), key_file, devices, queue, shared](ConnectOptions options) {
    options.board = shared;
    options.is_cancelled = is_interrupted;
    options.key_file = key_file;
    if (options.devices.empty()) options.devices = devices;
    options.deadlines.queue = queue;
    return open(std::move(options));
  };
  return {without_python([&] { return std::make_shared<Session>(open({}), open); })};
}

// Boards of farms that are leased together when the first of them is connected to.
std::vector<PyBoard> shared_boards(const std::vector<std::string>& addresses, const std::string& key_file) {
  std::vector<PyBoard> boards;
  for (SharedBoard& board : without_python([&] { return share_boards(addresses, key_file); }))
    boards.push_back({std::move(board)});
  return boards;
}

PyModule loaded(const PyDevice& self, const CompiledModule& compiled) {
  std::shared_ptr<session::DirectModule> direct;
  Module module = self.session->run([&](const Device& device) {
    direct = session::DirectModule::load(device, compiled);
    return device.load(compiled);
  });
  PyModule result{Held<Module>(self.session, std::move(module)), compiled, std::nullopt};
  if (direct != nullptr) result.direct.emplace(self.session, std::move(direct));
  return result;
}

KernelOptions kernel_options(std::string file, std::string text, std::string name, std::string function,
                             std::string schedule, std::vector<std::string> knobs, std::vector<std::string> points,
                             std::string signature, std::string c_flags, std::vector<std::string> fixed,
                             std::string launch, std::vector<std::string> bindings, bool winograd) {
  KernelOptions kernel;
  kernel.file = std::move(file);
  kernel.expression = std::move(text);
  if (!name.empty()) kernel.expression_name = std::move(name);
  kernel.function = std::move(function);
  kernel.schedule.text = std::move(schedule);
  kernel.schedule.knobs = std::move(knobs);
  kernel.schedule.points = std::move(points);
  kernel.signature = std::move(signature);
  kernel.c_flags = std::move(c_flags);
  kernel.launch = std::move(launch);
  kernel.fixed = std::move(fixed);
  kernel.bindings = std::move(bindings);
  kernel.winograd = winograd;
  return kernel;
}

// Whether all functions of the text are compiled, and not the only one or one that is named.
bool is_whole_text(const KernelOptions& kernel) {
  return !kernel.expression.empty() && kernel.function.empty() && kernel.fixed.empty() &&
         kernel.schedule.points.empty();
}

CompiledModule compiled(const KernelOptions& kernel, const Target& to, const std::vector<std::string>& sizes) {
  if (!is_whole_text(kernel) || !sizes.empty()) return compile(kernel, to, {{}, sizes, 0});
  if (kernel.schedule.text.empty()) return compile(kernel.expression, to, kernel.expression_name);
  ScheduleText schedule{kernel.schedule.text};
  for (const std::string& knob : kernel.schedule.knobs) {
    const std::size_t equals = knob.find('=');
    if (equals == std::string::npos) throw UsageError("expected a knob as NAME=VALUE, got '" + knob + "'");
    schedule.knobs[knob.substr(0, equals)] = knob.substr(equals + 1);
  }
  return compile(kernel.expression, to, schedule, kernel.expression_name);
}

PyModule compiled_for(const PyDevice& self, const KernelOptions& kernel, const std::vector<std::string>& sizes) {
  const Target to = self.session->run([&](const Device& device) { return target_of(device.facts(), kernel); });
  const auto compile = [=] { return compiled(kernel, to, sizes); };
  PyModule result = loaded(self, without_python([&] { return interruptible(compile); }));
  result.kernel = kernel;
  return result;
}

CompiledModule compiled_for_target(const KernelOptions& kernel, const std::string& to,
                                   const std::vector<std::string>& sizes) {
  const auto compile = [=] { return compiled(kernel, target(to), sizes); };
  return without_python([&] { return interruptible(compile); });
}

PyTensor put(const PyDevice& self, nb::handle array) {
  const BorrowedArgument given = borrowed_array(array, DType::f32, "the tensor");
  const View& view = std::get<View>(given.argument.value());
  return {self.session, self.session->run([&](const Device& device) { return device.put(view); })};
}

PyTensor empty(const PyDevice& self, const Shape& shape, const std::string& dtype) {
  const std::optional<DType> type = parse_dtype(dtype);
  if (!type) throw UsageError("expected a type of elements such as f32 or int8, got '" + dtype + "'");
  return {self.session, self.session->run([&](const Device& device) { return device.empty(*type, shape); })};
}

}  // namespace

void bind_devices(nb::module_& module) {
  nb::class_<KernelOptions>(module, "_KernelOptions").def_static("make", kernel_options);
  module.def("_compile", compiled_for_target);
  nb::class_<PyBoard>(module, "_Board");
  module.def("_is_leased", [](const PyBoard& board) { return board.board != nullptr; });
  module.def("_share_boards", shared_boards);
  module.def("_connect", connected, nb::arg("address"), nb::arg("key_file"), nb::arg("devices"), nb::arg("queue"),
             nb::arg("board").none());
  nb::class_<PyDevice>(module, "Device", "A device, for as long as it or something of it is referred to.")
      .def_prop_ro(
          "name",
          [](const PyDevice& self) { return self.session->run([](const Device& device) { return device.name(); }); },
          "Its address, or \"this machine\".")
      .def_prop_ro(
          "processor",
          [](const PyDevice& self) {
            return self.session->run([](const Device& device) { return device.processor(); });
          },
          "The processor that runs functions.")
      .def_prop_ro(
          "target",
          [](const PyDevice& self) {
            return self.session->run([](const Device& device) { return target_of(device).text; });
          },
          "What compile() compiles for.")
      .def(
          "close", [](const PyDevice& self) { self.session->close(); },
          "Ends the session at once, also if another thread waits for the device: that gets ConnectionLost or Error. A "
          "board of a farm is given back. What belongs to the session is gone. To close twice does nothing.")
      .def(
          "__enter__", [](nb::handle self) { return self; }, nb::sig("def __enter__(self) -> Device"))
      .def(
          "__exit__", [](const PyDevice& self, const nb::args&) { self.session->close(); },
          nb::sig("def __exit__(self, *exception: object) -> None"))
      .def("load", loaded, nb::arg("module"), "Loads a module that was compiled for a device such as this.")
      .def("put", put, nb::arg("array"), "Copies an array to the device.")
      .def("empty", empty, nb::arg("shape"), nb::arg("dtype") = "f32", "Allocates a tensor.")
      .def("_compile", compiled_for)
      .def("compile", forwarded("ferry.compiling", "compile_for"),
           nb::sig("def compile(self, source: str | os.PathLike[str] | ferry.schedules.Program | "
                   "ferry.schedules.Schedule | ferry.kernels.Kernel | ferry.kernels.Network, *, function: str = '', "
                   "schedule: str = '', "
                   "knobs: collections.abc.Mapping[str, object] | None = None, point: str = '', signature: str = '', "
                   "cflags: str = '', launch: str = '', fix: collections.abc.Mapping[str, int] | None = None, "
                   "sizes: collections.abc.Mapping[str, int] | None = None, name: str = '') -> Module"),
           "Compiles for this device and loads the result; the parameters are those of ferry.compile().");
}

}  // namespace ferry::python
