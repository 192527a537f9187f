// rpc_server's main program, which connects the components.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "base/printable.h"
#include "device-runtime/device/shared_memory.h"
#include "device-runtime/facts/facts.h"
#include "device-runtime/plan/mixed_program.h"
#include "device-runtime/sandbox/capabilities.h"
#include "device-runtime/sandbox/landlock.h"
#include "device-runtime/session/compute_devices.h"
#include "device-runtime/supervisor/arguments.h"
#include "device-runtime/supervisor/freed_memory.h"
#include "device-runtime/supervisor/nameless_files.h"
#include "device-runtime/supervisor/supervisor.h"
#include "device-runtime/supervisor/work_folder.h"
#include "rpc/server/host_name.h"

namespace {

#if defined(FERRY_STATIC)
constexpr const char* kFlavour = "static";
constexpr ferry::device::OtherDevices kOtherDevices;
#else
constexpr const char* kFlavour = "dynamic";
constexpr ferry::device::Drivers kDrivers = {[](const char* file) { return dlopen(file, RTLD_NOW | RTLD_LOCAL); },
                                             dlsym};
constexpr ferry::device::OtherDevices kOtherDevices = {
    [] { return ferry::device::probe_devices(kDrivers); },
    [](const ferry::DeviceId& id, ferry::device::MemoryBudget& budget) {
      return ferry::device::open_device(kDrivers, id, budget);
    },
    ferry::device::mixed_program,
    ferry::device::all_nameless_bytes,
    ferry::device::may_see_mapped_files,
    [](const std::string& folder) {
      ferry::device::keep_drivers_files_in(folder);
      return ferry::device::restrict_to_drivers_files(folder);
    }};
#endif

constexpr int kUsageError = 2;

int fail(const ferry::Status& status, int code) {
  std::fprintf(stderr, "rpc_server: %s\n", ferry::printable_lines(status.message()).c_str());
  return code;
}

[[noreturn]] void on_terminate() {
  constexpr char kText[] = "rpc_server: ended by an exception that nobody caught\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText, sizeof kText - 1);
  std::abort();
}

void report_new_key(const ferry::server::KeyRing& keys, const std::string& host) {
  std::fprintf(stderr,
               "rpc_server: made a key, %s\n"
               "  Whoever holds it may run code here as this user. On the machine that runs ferry, bring it over:\n"
               "    mkdir -p ~/.config/ferry && scp BOARD:%s ~/.config/ferry/board.key\n"
               "  and name it beside the address, or once for all in ~/.config/ferry/devices.toml:\n"
               "    ferry device --remote BOARD:PORT --key-file ~/.config/ferry/board.key\n",
               keys.made().c_str(), keys.made().c_str());
  if (host == "127.0.0.1") std::fputs("  To listen on the network and not only here: --host 0.0.0.0\n", stderr);
}

int run(ferry::device::Arguments arguments) {
  ferry::device::wipe_freed_memory(true);
  ferry::Result<ferry::server::KeyRing> keys = ferry::server::KeyRing();
  const bool listens = arguments.server.inherited_socket < 0 && !arguments.server.stdio;
  const bool is_in_farm = !arguments.server.farm.trackers.empty();
#if !defined(FERRY_STATIC)
  if (listens && arguments.server.host != "localhost") {
    auto address = ferry::server::find_address(arguments.server.host, "--host");
    if (!address.is_ok()) return fail(address.status(), kUsageError);
    arguments.server.host = std::move(address.value());
  }
  for (ferry::TcpAddress& tracker : arguments.server.farm.trackers) {
    auto address = ferry::server::find_address(tracker.host, "--farm");
    if (!address.is_ok()) return fail(address.status(), kUsageError);
    tracker.host = std::move(address.value());
  }
#endif
  if (is_in_farm) {
    // The key is read again for each connection; an error shows here.
    const ferry::Status readable = ferry::secure::read_key_file(arguments.server.farm.key_file).status();
    if (!readable.is_ok()) return fail(readable, 1);
  } else if (listens && !arguments.insecure_plaintext) {
    keys = ferry::server::KeyRing::open(arguments.key_file);
    if (!keys.is_ok()) return fail(keys.status(), 1);
    if (!keys.value().made().empty()) report_new_key(keys.value(), arguments.server.host);
    arguments.server.keys = &keys.value();
  }
  ferry::DeviceFacts facts = ferry::device::gather_facts({.server_version = FERRY_VERSION,
                                                          .flavour = kFlavour,
                                                          .threads = arguments.threads,
                                                          .memory_limit_bytes = arguments.memory_limit_bytes});
  facts.small_pages = !ferry::device::has_huge_pages();
  arguments.server.other_devices = kOtherDevices;
  const auto folder = ferry::device::WorkFolder::open(arguments.workdir);
  if (!folder.is_ok()) return fail(folder.status(), 1);
  const ferry::Status ended = ferry::device::serve(arguments.server, facts, folder.value());
  if (ended.is_ok()) return 0;
  return fail(ended, ended.code() == ferry::ErrorCode::invalid_argument ? kUsageError : 1);
}

}  // namespace

// The standard library's handler prints the exception's type, for which it links a demangler of 50 KB. Defining the
// variable that holds the handler keeps all of that out.
namespace __cxxabiv1 {
extern std::terminate_handler __terminate_handler;
std::terminate_handler __terminate_handler = on_terminate;
}  // namespace __cxxabiv1

int main(int argc, char** argv) {
  // If the program is started with its standard streams closed, the first sockets would otherwise get their
  // descriptors.
  int stream = 0;
  while ((stream = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0 && stream <= STDERR_FILENO) {
  }
  if (stream >= 0) close(stream);
  const auto count = static_cast<std::size_t>(argc > 0 ? argc - 1 : 0);
  const auto arguments = ferry::device::parse_arguments({argv + 1, count});
  if (!arguments.is_ok()) return fail(arguments.status(), kUsageError);
  switch (arguments.value().action) {
    case ferry::device::Action::print_help: std::fputs(ferry::device::help_text(), stdout); return 0;
    case ferry::device::Action::print_version: std::printf("rpc_server %s (%s)\n", FERRY_VERSION, kFlavour); return 0;
    case ferry::device::Action::serve: return run(arguments.value());
  }
  return kUsageError;
}
