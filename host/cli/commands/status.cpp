#include <cstdio>
#include <string>

#include "base/quantity_text.h"
#include "host/cli/commands/command.h"
#include "host/cli/options/json_option.h"
#include "host/cli/options/remote.h"
#include "host/client/connect_to.h"
#include "host/text/json.h"

namespace ferry::cli {

namespace {

text::Json to_json(const std::vector<ServerClient>& clients) {
  text::Json list = text::Json::array();
  for (const ServerClient& one : clients) {
    text::Json entry = {{"client", one.client}, {"peer", one.peer}, {"seconds", one.seconds}};
    if (one.session != 0) entry["session"] = one.session;
    if (!one.function.empty()) {
      entry["function"] = one.function;
      entry["running_seconds"] = one.running_seconds;
    }
    list.push_back(entry);
  }
  return list;
}

int show_status(const RemoteOptions& remote, bool json) {
  if (remote.address.empty()) throw UsageError("--remote: expected the rpc_server to ask");
  ConnectOptions how;
  how.key_file = remote.key_file;
  const ServerStatus status = session::server_status(*remote.schemes, remote.address, how);
  if (json) {
    text::print_json({{"schema", "ferry.status/1"},
                      {"address", status.address},
                      {"server_version", status.server_version},
                      {"device", status.device},
                      {"uptime_seconds", status.uptime_seconds},
                      {"max_sessions", status.max_sessions},
                      {"max_waiting", status.max_waiting},
                      {"sessions_ended", status.sessions_ended},
                      {"sessions_failed", status.sessions_failed},
                      {"sessions", to_json(status.sessions)},
                      {"waiting", to_json(status.waiting)}});
    return kExitFine;
  }
  printf("%s: %s, rpc_server %s, up for %s\n", status.address.c_str(), status.device.c_str(),
         status.server_version.c_str(), seconds_text(status.uptime_seconds).c_str());
  printf("%s of %u sessions, %s of %u waiting; %s ended, %s of them badly\n",
         count_text(status.sessions.size()).c_str(), status.max_sessions, count_text(status.waiting.size()).c_str(),
         status.max_waiting, count_text(status.sessions_ended).c_str(), count_text(status.sessions_failed).c_str());
  for (const ServerClient& one : status.sessions) {
    printf("session %llu: %s from %s, for %s", static_cast<unsigned long long>(one.session), one.client.c_str(),
           one.peer.c_str(), seconds_text(one.seconds).c_str());
    if (!one.function.empty())
      printf("; %s runs for %s", one.function.c_str(), seconds_text(one.running_seconds).c_str());
    printf("\n");
  }
  int place = 0;
  for (const ServerClient& one : status.waiting) {
    printf("waiting %d: %s from %s, for %s\n", ++place, one.client.c_str(), one.peer.c_str(),
           seconds_text(one.seconds).c_str());
  }
  return kExitFine;
}

}  // namespace

void add_status(CLI::App& app, Action& chosen, const session::Schemes& schemes) {
  struct Options {
    RemoteOptions remote;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("status", "Show who uses a device and who waits for it, without waiting");
  add_address_options(command, options->remote, schemes, "The rpc_server to ask");
  add_json_option(command, options->json);
  command.footer(
      "Examples:\n"
      "  ferry status --remote 192.168.1.17:9090\n"
      "  ferry status --remote 192.168.1.17:9090 --json | jq .waiting");
  command.callback([options, &chosen] {
    chosen = [options](const Compiler*) { return show_status(options->remote, options->json); };
  });
}

}  // namespace ferry::cli
