#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <sstream>

#include "ferry/client.h"
#include "ferry/error.h"
#include "host/cli/commands/app.h"
#include "host/cli/options/complaint.h"
#include "host/cli/output/output.h"
#include "host/cli/output/style.h"

namespace {

using namespace ferry;

int complain(const char* message, int code) {
  cli::print_error(message);
  return code;
}

int run(const cli::Action& chosen) {
  try {
    return chosen();
  } catch (const Error& error) {
    return complain(cli::complaint(error).c_str(), cli::exit_code_of(error.code()));
  } catch (const std::bad_alloc&) {
    return complain("this machine is out of memory", cli::kExitDevice);
  } catch (const std::exception& error) {
    return complain((std::string("a bug of ferry's own, please report it: ") + error.what()).c_str(), cli::kExitBug);
  }
}

}  // namespace

int main(int count, char** words) {
  signal(SIGPIPE, SIG_IGN);
  CLI::App app{"ferry compiles tensor kernels here and runs them there.", "ferry"};
  app.set_version_flag("--version", "ferry " FERRY_VERSION);
  cli::Action chosen;
  cli::add_commands(app, chosen);
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help and --version
      std::ostringstream text;
      app.exit(error, text, text);
      fputs(text.str().c_str(), stdout);
      return cli::output_is_written() ? cli::kExitFine : complain("cannot write the output", cli::kExitUserError);
    }
    return complain(cli::usage_error(app, error).c_str(), cli::kExitUserError);
  }
  const int code = run(chosen);
  if (cli::output_is_written() || code != cli::kExitFine) return code;
  return complain("cannot write the output", cli::kExitUserError);
}
