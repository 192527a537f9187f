#include "host/cli/commands/command_line.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <sstream>
#include <string>

#include "ferry/error.h"
#include "host/cli/commands/app.h"
#include "host/cli/options/error_message.h"
#include "host/cli/options/interrupts.h"
#include "host/cli/options/program_words.h"
#include "host/text/output.h"
#include "host/text/style.h"

namespace ferry::cli {

namespace {

int exit_with_error(const char* message, int code) {
  text::print_error(message);
  return code;
}

int run(const Action& chosen, const Compiler* compiler) {
  try {
    return chosen(compiler);
  } catch (const Error& error) {
    return exit_with_error(error_message(error).c_str(), exit_code_of(error.code()));
  } catch (const std::bad_alloc&) {
    return exit_with_error("this machine is out of memory", kExitDevice);
  } catch (const std::exception& error) {
    return exit_with_error((std::string("a bug of ferry's own, please report it: ") + error.what()).c_str(), kExitBug);
  }
}

}  // namespace

int run_command_line(int count, char** words, const Compiler* compiler, const session::Schemes& schemes,
                     const MoreCommands& more) {
  signal(SIGPIPE, SIG_IGN);
  handle_interrupts();
  CLI::App app{"ferry compiles tensor kernels here and runs them there.", "ferry"};
  app.set_version_flag("--version", "ferry " FERRY_VERSION);
  Action chosen;
  add_commands(app, chosen, schemes, more);
  try {
    app.parse(parser_words(count, words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help and --version
      std::ostringstream text;
      app.exit(error, text, text);
      fputs(text.str().c_str(), stdout);
      return text::output_is_written() ? kExitFine : exit_with_error("cannot write the output", kExitUserError);
    }
    return exit_with_error(usage_error(app, error).c_str(), kExitUserError);
  }
  const int code = run(chosen, compiler);
  end_if_interrupted();
  if (text::output_is_written() || code != kExitFine) return code;
  return exit_with_error("cannot write the output", kExitUserError);
}

}  // namespace ferry::cli
