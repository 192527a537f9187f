#include "host/cli/options/remote.h"

#include <cstdio>

#include "base/quantity_text.h"
#include "host/cli/options/compile_deadline.h"
#include "host/cli/options/interrupts.h"
#include "host/cli/options/option_checks.h"
#include "host/client/connect_to.h"
#include "host/text/progress.h"
#include "host/text/style.h"

namespace ferry::cli {

namespace {

void add_deadlines(CLI::App& command, Deadlines& deadlines) {
  add_deadline(command, "--call-deadline", deadlines.call,
               "Limit for one call or measurement; the server's own applies if it is less");
  add_deadline(command, "--session-deadline", deadlines.session, "Limit for the whole session on the device");
  add_deadline(command, "--idle-deadline", deadlines.idle, "Limit for the time without work on the device");
  add_deadline(command, "--queue-deadline", deadlines.queue,
               "Limit for waiting for a place on the device (default: none); the other limits start after it");
}

void add_key_file(CLI::App& command, RemoteOptions& remote, const session::Schemes& schemes) {
  remote.schemes = &schemes;
  command
      .add_option("--key-file", remote.key_file,
                  "The key of that server; without it, what devices.toml or FERRY_KEY_FILE names")
      ->type_name("FILE");
}

}  // namespace

std::string place_text(const QueuePlace& place) {
  std::string text = "waiting at place " + std::to_string(place.position);
  if (!place.holder.empty()) {
    text += "; for " + seconds_text(place.holder_seconds) + " the device has been held by " + place.holder;
  }
  if (place.wait_seconds) text += ", probably for " + seconds_text(*place.wait_seconds);
  return text;
}

void print_lease_notice(const std::string& line) {
  text::Progress::clear();
  text::print_note(line);
}

void add_address_options(CLI::App& command, RemoteOptions& remote, const session::Schemes& schemes, const char* help) {
  command.add_option("-r,--remote", remote.address, help)
      ->type_name("NAME|ADDRESS")
      ->check(some_text("a device"))
      ->envname("FERRY_REMOTE");
  add_key_file(command, remote, schemes);
}

void add_remote_option(CLI::App& command, RemoteOptions& remote, const session::Schemes& schemes, const char* help) {
  add_address_options(command, remote, schemes, help);
  add_deadlines(command, remote.deadlines);
}

void add_remotes_option(CLI::App& command, std::vector<std::string>& addresses, RemoteOptions& remote,
                        const session::Schemes& schemes) {
  command
      .add_option("-r,--remote", addresses,
                  "The rpc_server to use, several one after the other; without it, one is started on this machine")
      ->type_name("NAME|ADDRESS")
      ->type_size(1)
      ->allow_extra_args(false)
      ->check(some_text("a device"))
      ->envname("FERRY_REMOTE");
  add_key_file(command, remote, schemes);
  add_deadlines(command, remote.deadlines);
}

Device open_device(const RemoteOptions& remote, ConnectOptions options) {
  options.log = [](const std::string& line) {
    text::Progress::clear();
    fputs(line.c_str(), stderr);
    if (line.empty() || line.back() != '\n') fputc('\n', stderr);
  };
  options.queued = [](const QueuePlace& place) { text::Progress::show(place_text(place)); };
  options.is_cancelled = InterruptibleWork::is_requested;
  options.lease_notice = print_lease_notice;
  const double call = options.deadlines.call;
  options.deadlines = remote.deadlines;
  if (options.deadlines.call == 0) options.deadlines.call = call;
  options.key_file = remote.key_file;
  options.board = remote.board;
  if (remote.address.empty()) return local_device(options);
  const text::Progress progress("connecting to " + remote.address);
  return session::connect_to(*remote.schemes, remote.address, options);
}

OpenSession opening(RemoteOptions remote) {
  if (remote.board == nullptr && !remote.address.empty())
    remote.board = remote.schemes->shared_connectors({remote.address}, remote.key_file).front();
  return [remote](const ConnectOptions& options) { return open_device(remote, options); };
}

std::vector<bench::NamedDevice> devices_at(const std::vector<std::string>& addresses, const RemoteOptions& remote,
                                           std::size_t boards) {
  if (boards > 1 && addresses.empty()) throw UsageError("--boards: expected --remote with it, the address of a farm");
  std::vector<std::string> all;
  for (const std::string& address : addresses) all.insert(all.end(), boards, address);
  std::vector<bench::NamedDevice> devices;
  const std::vector<SharedBoard> shared = remote.schemes->shared_connectors(all, remote.key_file);
  for (std::size_t i = 0; i < shared.size(); ++i) {
    if (boards > 1 && shared[i] == nullptr)
      throw UsageError("--boards: expected the address of a farm in --remote, got '" + all[i] + "'");
    RemoteOptions one = remote;
    one.address = all[i];
    one.board = shared[i];
    devices.push_back({all[i], opening(one)});
  }
  if (devices.empty()) devices.push_back({"this machine", opening(remote)});
  return devices;
}

}  // namespace ferry::cli
