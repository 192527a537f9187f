// The client without a compiler: a ferry that runs, checks, times and compares modules that were compiled elsewhere.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "farm/cli/farm_command.h"
#include "farm/client/farm_connector.h"
#include "host/cli/commands/command_line.h"

namespace {

// The library's own handler prints the type of the exception, for which it contains 45 KB of a demangler.
void on_terminate() {
  if (const std::exception_ptr exception = std::current_exception()) {
    try {
      std::rethrow_exception(exception);
    } catch (const std::exception& error) {
      fprintf(stderr, "ferry: a bug of ferry's own: %s\n", error.what());
    } catch (...) {
      fputs("ferry: a bug of ferry's own: an exception of an unknown type\n", stderr);
    }
  }
  std::abort();
}

}  // namespace

// The handler before main(), in place of libstdc++'s.
namespace __cxxabiv1 {
extern std::terminate_handler __terminate_handler;
std::terminate_handler __terminate_handler = on_terminate;
}  // namespace __cxxabiv1

int main(int count, char** words) {
  const ferry::cli::MoreCommands more{[](auto& app, auto& chosen) { ferry::cli::add_farm(app, chosen, nullptr); }};
  const ferry::session::Schemes schemes = ferry::farm::with_farm();
  return ferry::cli::run_command_line(count, words, nullptr, schemes, more);
}
