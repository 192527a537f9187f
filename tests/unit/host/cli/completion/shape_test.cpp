#include "host/cli/completion/shape.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "farm/cli/farm_command.h"
#include "host/cli/commands/app.h"

using namespace ferry::cli;

namespace {

const ferry::session::Schemes kSchemes;

const CommandShape& command(const AppShape& app, const std::string& name) {
  return *std::find_if(app.commands.begin(), app.commands.end(), [&](const auto& one) { return one.name == name; });
}

const OptionShape& option(const CommandShape& command, const std::string& name) {
  return *std::find_if(command.options.begin(), command.options.end(), [&](const OptionShape& one) {
    return std::find(one.names.begin(), one.names.end(), name) != one.names.end();
  });
}

}  // namespace

TEST_CASE("the shape of the command line has the kinds of its values") {
  CLI::App app("", "ferry");
  Action chosen;
  add_commands(app, chosen, kSchemes, {[](auto& to, auto& action) { add_farm(to, action, nullptr); }});
  const AppShape shape = shape_of(app);
  const CommandShape& run = command(shape, "run");
  CHECK(option(run, "--check").takes == Takes::nothing);
  CHECK(option(run, "--remote").names == std::vector<std::string>{"-r", "--remote"});
  CHECK(option(run, "-r").takes == Takes::device);
  CHECK(option(run, "--target").takes == Takes::target);
  CHECK(option(run, "--schedule").takes == Takes::file);
  CHECK(option(run, "--size").takes == Takes::text);
  CHECK(option(run, "--size").repeats);
  CHECK(!option(run, "--seed").repeats);
  CHECK(option(run, "--color").words == std::vector<std::string>{"auto", "always", "never"});
  CHECK(run.positionals.front().takes == Takes::file);
  CHECK(command(shape, "completion").positionals.front().words == std::vector<std::string>{"bash", "zsh", "fish"});
  CHECK(command(shape, "help").positionals.front().takes == Takes::command);
}

TEST_CASE("commands of a group are inside it, without options that are not for users") {
  CLI::App app("", "ferry");
  Action chosen;
  add_commands(app, chosen, kSchemes, {[](auto& to, auto& action) { add_farm(to, action, nullptr); }});
  const AppShape shape = shape_of(app);
  const CommandShape& farm = command(shape, "farm");
  const auto exec = std::find_if(farm.commands.begin(), farm.commands.end(),
                                 [](const CommandShape& one) { return one.path == "farm exec"; });
  REQUIRE(exec != farm.commands.end());
  CHECK(exec->name == "exec");
  CHECK(option(*exec, "--farm").takes == Takes::device);
  CHECK(std::none_of(exec->options.begin(), exec->options.end(),
                     [](const OptionShape& one) { return one.names.front() == "--program"; }));
}
