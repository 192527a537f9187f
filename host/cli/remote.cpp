#include "host/cli/remote.h"

#include <cstdio>

#include "host/cli/format.h"
#include "host/cli/option_checks.h"
#include "host/cli/progress.h"

namespace ferry::cli {

namespace {

void add_deadline(CLI::App& command, const char* name, double& seconds, const char* help) {
  command.add_option(name, seconds, help)->type_name("SECONDS")->check(number(0.001, 1e9))->group("Deadlines");
}

}  // namespace

void add_remote_option(CLI::App& command, RemoteOptions& remote, const char* help) {
  command.add_option("--remote", remote.address, help)->type_name("HOST:PORT")->envname("FERRY_REMOTE");
  Deadlines& deadlines = remote.deadlines;
  add_deadline(command, "--call-deadline", deadlines.call,
               "Of one call or measurement; the server's own if it is less");
  add_deadline(command, "--session-deadline", deadlines.session, "Of everything on the device together");
  add_deadline(command, "--idle-deadline", deadlines.idle, "Of doing nothing on the device");
  add_deadline(command, "--queue-deadline", deadlines.queue,
               "Of waiting for a place on the device (as long as it takes); counts for none of the others");
}

Device open_device(const RemoteOptions& remote, ConnectOptions options) {
  options.log = [](const std::string& line) {
    Progress::clear();
    fputs(line.c_str(), stderr);
    if (line.empty() || line.back() != '\n') fputc('\n', stderr);
  };
  options.queued = [](const QueuePlace& place) {
    Progress::show("waiting at place " + std::to_string(place.position) + "; for " +
                   seconds_text(place.holder_seconds) + " the device has been held by " + place.holder);
  };
  options.deadlines = remote.deadlines;
  if (remote.address.empty()) return local_device(options);
  const Progress progress("connecting to " + remote.address);
  return connect(remote.address, options);
}

}  // namespace ferry::cli
