// Serves the page of a scripted farm on a free port of loopback until its input ends, for tests with browsers and
// proxies and for looking at it.
//
//   farm_page_server [--behind-proxy] [--change-every MS]
//
// Prints the URL. The tokens are token-of-a-viewer, token-of-a-user and token-of-an-admin.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "farm/web/http_server.h"
#include "tests/support/farm/scripted_farm.h"

int main(int count, char** arguments) {
  ferry::farm::http::HttpOptions options;
  options.port = 0;
  int change_every_ms = -1;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--behind-proxy") {
      options.behind_proxy = true;
    } else if (argument == "--change-every" && i + 1 < count) {
      change_every_ms = std::atoi(arguments[++i]);
    } else {
      std::fprintf(stderr, "usage: farm_page_server [--behind-proxy] [--change-every MS]\n");
      return 2;
    }
  }
  ferry::test::ScriptedFarm farm;
  farm.add_sample();
  const auto server = ferry::farm::http::HttpServer::start(farm, options);
  if (!server.is_ok()) {
    std::fprintf(stderr, "%s\n", server.status().message().c_str());
    return 1;
  }
  std::printf("%s\n", server.value()->url().c_str());
  std::fflush(stdout);
  while (true) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&input, 1, change_every_ms);
    char line[256];
    if (ready > 0 && ::read(STDIN_FILENO, line, sizeof line) <= 0) return 0;
    // Each line of input, like the passing of time, is a change: the first board gets or loses a lease.
    auto board = farm.board("rpi4-05");
    board.lease = board.lease == 0 ? 77 : 0;
    board.holder = board.lease == 0 ? "" : "somebody new";
    farm.add_board(board);
  }
}
