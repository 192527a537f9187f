#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <sstream>

#include "base/error.h"
#include "base/printable.h"
#include "host/cli/commands/command.h"
#include "host/cli/output/output.h"
#include "host/session/ferry.h"

namespace {

using namespace ferry;

int complain(const char* message, int code) {
  fflush(stdout);
  // The message may quote a file, an argument or another program.
  fprintf(stderr, "ferry: %s\n", printable_lines(message).c_str());
  return code;
}

// Returns CLI11's message, or a better one for an unknown command.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error, const std::string& first_word) {
  const auto commands = app.get_subcommands();
  std::string message = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    message = message.substr(0, message.find(':')) + ": expected a value after it";
  }
  if (!commands.empty()) return message + "\nTry 'ferry " + commands[0]->get_name() + " --help'.";
  std::string names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  if (first_word.empty()) return "expected a command: " + names + "\nTry 'ferry --help'.";
  if (first_word[0] == '-') return "there is no option '" + first_word + "'\nTry 'ferry --help'.";
  return "there is no command '" + first_word + "'; expected one of: " + names + "\nTry 'ferry --help'.";
}

int run(const cli::Action& chosen) {
  try {
    return chosen();
  } catch (const CompileError& error) {
    return complain(error.what(), cli::kExitUserError);
  } catch (const Error& error) {
    return complain(error.what(), cli::exit_code_of(error.code()));
  } catch (const RemoteError& error) {
    return complain(error.what(), cli::exit_code_of(error.code()));
  } catch (const std::bad_alloc&) {
    return complain("this machine is out of memory", cli::kExitDevice);
  } catch (const std::exception& error) {
    fprintf(stderr, "ferry: a bug of ferry's own, please report it: %s\n", printable_lines(error.what()).c_str());
    return cli::kExitBug;
  }
}

}  // namespace

int main(int count, char** words) {
  signal(SIGPIPE, SIG_IGN);
  CLI::App app{"ferry compiles tensor kernels here and runs them there.", "ferry"};
  app.set_version_flag("--version", "ferry " FERRY_VERSION);
  app.require_subcommand(1);
  app.footer(
      std::string("'ferry COMMAND --help' shows a command's options and examples. --remote or FERRY_REMOTE names the\n"
                  "rpc_server to use; without either, ferry starts one on this machine and ends it when done. Names of "
                  "devices,\n"
                  "their addresses and keys stand in ~/.config/ferry/devices.toml.\n\n") +
      cli::exit_codes_text());
  cli::Action chosen;
  cli::add_device(app, chosen);
  cli::add_targets(app, chosen);
  cli::add_compile(app, chosen);
  cli::add_diff(app, chosen);
  cli::add_inspect(app, chosen);
  cli::add_check(app, chosen);
  cli::add_run(app, chosen);
  cli::add_bench(app, chosen);
  cli::add_compare(app, chosen);
  cli::add_ping(app, chosen);
  cli::add_status(app, chosen);
  cli::add_keygen(app, chosen);
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help and --version
      std::ostringstream text;
      app.exit(error, text, text);
      fputs(text.str().c_str(), stdout);
      return cli::output_is_written() ? cli::kExitFine : complain("cannot write the output", cli::kExitUserError);
    }
    return complain(usage_error(app, error, count > 1 ? words[1] : "").c_str(), cli::kExitUserError);
  }
  const int code = run(chosen);
  if (cli::output_is_written() || code != cli::kExitFine) return code;
  return complain("cannot write the output", cli::kExitUserError);
}
