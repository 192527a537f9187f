#include "host/cli/commands/app.h"

#include <doctest/doctest.h>

#include "farm/cli/farm_command.h"
#include "ferry/error.h"

using namespace ferry;
using namespace ferry::cli;

namespace {

const session::Schemes kSchemes;

struct CommandLine {
  CLI::App app{"", "ferry"};
  Action chosen;

  CommandLine() {
    add_commands(app, chosen, kSchemes, {[](auto& to, auto& action) { add_farm(to, action, nullptr); }});
  }

  // Returns the first line of the complaint about these words.
  std::string complaint(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());
    try {
      app.parse(words);
    } catch (const CLI::ParseError& error) {
      const std::string text = usage_error(app, error);
      return text.substr(0, text.find('\n'));
    }
    return "";
  }
};

std::string complaint(const std::vector<std::string>& words) { return CommandLine().complaint(words); }

}  // namespace

TEST_CASE("a misspelt command or option names the nearest one") {
  CHECK(complaint({"rnu"}) == "there is no command 'rnu'; did you mean 'run'?");
  CHECK(complaint({"run", "fir.tc", "--siz", "n=20"}) == "'ferry run' has no option '--siz'; did you mean '--size'?");
  CHECK(complaint({"run", "--siz=n=20"}) == "'ferry run' has no option '--siz'; did you mean '--size'?");
  CHECK(complaint({"--colour=never"}) == "there is no option '--colour'; did you mean '--color'?");
}

TEST_CASE("an option of another command, or before the command, says where it belongs") {
  CHECK(complaint({"run", "k.tc", "--sweep", "N=1,2"}) == "'ferry run' has no option '--sweep'; 'ferry bench' has it");
  CHECK(complaint({"--size", "N=3", "run"}) == "expected '--size' after the command: ferry run --size");
}

TEST_CASE("an option that is given twice says so, and which command takes several") {
  CHECK(complaint({"run", "-r", "a", "-r", "b"}) ==
        "--remote: expected it once, got it several times; 'ferry bench' takes several");
  CHECK(complaint({"bench", "--seed", "1", "--seed", "2"}) == "--seed: expected it once, got it several times");
}

TEST_CASE("what is missing or too many is shown with the command's form") {
  CHECK(complaint({"compare", "a.tc"}) == "expected B: ferry compare A B");
  CHECK(complaint({"inspect", "a.ferry", "b.ferry"}) == "'b.ferry' is one argument too many: ferry inspect module");
  CHECK(complaint({"run", "--rtol"}) == "--rtol: expected a value after it");
}

TEST_CASE("sizes as arguments of their own are shown as one option") {
  CHECK(complaint({"run", "mm.tc", "--size", "M=4", "N=4"}) ==
        "'N=4' is one argument too many: ferry run kernel; several sizes stand together, as in --size M=4,N=4");
  CHECK(complaint({"status", "N=4"}) == "'N=4' is one argument too many: ferry status");
}

TEST_CASE("an option that compare has for each kernel names both, and one letter is like no other") {
  CHECK(complaint({"compare", "a.tc", "b.tc", "--fn", "mm"}) ==
        "'ferry compare' has no option '--fn'; expected --fn-a or --fn-b");
  CHECK(complaint({"run", "a.tc", "-x"}) == "'ferry run' has no option '-x'");
}

TEST_CASE("options that exclude each other, and a value of a flag, are told in the words of the others") {
  CHECK(complaint({"run", "a.tc", "--json", "--quiet"}) == "expected --json or --quiet, got both");
  CHECK(complaint({"bench", "a.tc", "--json", "--csv"}) == "expected --json or --csv, got both");
  CHECK(complaint({"run", "a.tc", "--check=maybe"}) == "--check: expected no value, got 'maybe'");
}

TEST_CASE("an empty device or target is refused, and limits are written as they are typed") {
  CHECK(complaint({"run", "a.tc", "--remote", ""}) == "--remote: expected a device, got an empty text");
  CHECK(complaint({"bench", "a.tc", "--remote", ""}) == "--remote: expected a device, got an empty text");
  CHECK(complaint({"run", "a.tc", "--target", ""}) == "--target: expected a target, got an empty text");
  CHECK(complaint({"run", "a.tc", "--call-deadline", "0"}) ==
        "--call-deadline: expected a number from 0.001 to 1000000000, got '0'");
}

TEST_CASE("help shows a command's own help, and knows no other") {
  const CommandLine line;
  const std::string run = help_text(line.app, {"run"});
  CHECK(run.find("Usage: ferry run [OPTIONS] [kernel]\n") != std::string::npos);
  CHECK(run.find("\nExamples:\n") != std::string::npos);
  CHECK(help_text(line.app, {}).find("\nSubcommands:\n") != std::string::npos);
  CHECK_THROWS_WITH_AS(help_text(line.app, {"rnu"}), "there is no command 'rnu'; did you mean 'run'?", UsageError);
}

TEST_CASE("every command has examples in its help, and --color") {
  const CommandLine line;
  for (const CLI::App* command : commands_of(line.app)) {
    CAPTURE(command->get_name());
    const std::string help = help_text(line.app, {command->get_name()});
    CHECK(help.find("Examples:\n  ferry " + command->get_name()) != std::string::npos);
    CHECK(help.find("--color WHEN") != std::string::npos);
    for (const CLI::App* inner : commands_of(*command)) {
      const std::string words = command->get_name() + " " + inner->get_name();
      CAPTURE(words);
      const std::string inner_help = help_text(line.app, {command->get_name(), inner->get_name()});
      CHECK(inner_help.find("Usage: ferry " + words) != std::string::npos);
      CHECK(inner_help.find("Examples:\n  ferry " + words) != std::string::npos);
      CHECK(inner_help.find("--color WHEN") != std::string::npos);
    }
  }
}

TEST_CASE("commands of a group are named with it, and suggested within it") {
  CHECK(complaint({"farm"}).starts_with("expected a command: status, devices, queue, leases, exec"));
  CHECK(complaint({"farm", "devcies"}) == "there is no command 'devcies'; did you mean 'devices'?");
  CHECK(complaint({"farm", "devices", "--jsn"}) ==
        "'ferry farm devices' has no option '--jsn'; did you mean '--json'?");
  CHECK(complaint({"farm", "retire"}) == "expected board: ferry farm retire board");
  CHECK(complaint({"farm", "retire", "a", "b"}) == "'b' is one argument too many: ferry farm retire board");
  CHECK(complaint({"farm", "retire", "a", "--return"}) ==
        "'ferry farm retire' has no option '--return'; 'ferry farm maintain' has it");
  CHECK(complaint({"farm", "token", "a", "--role", "root"}) ==
        "--role: expected one of: viewer, user, admin; got 'root'");
}

TEST_CASE("help is found by all words of a command") {
  CommandLine line;
  CHECK(help_text(line.app, {"farm"}).find("devices") != std::string::npos);
  CHECK(help_text(line.app, {"farm", "exec"}).find("--priority") != std::string::npos);
  const auto refused = [&](const std::vector<std::string>& words) {
    try {
      help_text(line.app, words);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused({"farm", "exce"}) == "there is no command 'exce'; did you mean 'exec'?");
  CHECK(refused({"run", "x"}) == "'ferry run' has no commands, got 'x'");
}
