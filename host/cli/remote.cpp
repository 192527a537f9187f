#include "host/cli/remote.h"

#include <cstdio>

#include "host/cli/progress.h"

namespace ferry::cli {

void add_remote_option(CLI::App& command, std::string& remote, const char* help) {
  command.add_option("--remote", remote, help)->type_name("HOST:PORT")->envname("FERRY_REMOTE");
}

Device open_device(const std::string& remote) {
  ConnectOptions options;
  options.log = [](const std::string& line) {
    Progress::clear();
    fputs(line.c_str(), stderr);
    if (line.empty() || line.back() != '\n') fputc('\n', stderr);
  };
  options.queued = [](std::uint32_t position) { Progress::show("in the queue at place " + std::to_string(position)); };
  if (remote.empty()) return local_device(options);
  Progress::show("connecting to " + remote);
  Device device = connect(remote, options);
  Progress::clear();
  return device;
}

}  // namespace ferry::cli
