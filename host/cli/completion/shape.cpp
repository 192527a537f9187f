#include "host/cli/completion/shape.h"

#include <algorithm>

#include "host/cli/options/option_checks.h"

namespace ferry::cli {

namespace {

Takes kind_of(const CLI::Option& option, bool has_words) {
  if (option.get_expected_max() == 0) return Takes::nothing;
  if (has_words) return Takes::words;
  const std::string type = option.get_type_name();
  if (type == "TARGET") return Takes::target;
  if (type == "NAME|ADDRESS") return Takes::device;
  if (type == "COMMAND") return Takes::command;
  // A schedule is a file, or one of two words.
  const bool is_file = type == "FILE" || type == "SCHEDULE" || type.starts_with("K.");
  return is_file ? Takes::file : Takes::text;
}

OptionShape shape_of(CLI::Option& option) {
  OptionShape shape;
  for (const std::string& name : option.get_snames()) shape.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) shape.names.push_back("--" + name);
  if (option.get_positional()) shape.names = {option.get_name(true)};
  shape.help = option.get_description();
  std::replace(shape.help.begin(), shape.help.end(), '\n', ' ');
  shape.value = option.get_type_name();
  shape.words = words_of(option);
  shape.takes = kind_of(option, !shape.words.empty());
  shape.repeats = option.get_expected_max() > 1;
  return shape;
}

// Options without a group are not for users.
bool is_shown(const CLI::Option* option) { return !option->get_group().empty(); }

std::vector<CommandShape> commands_below(CLI::App& app, const std::string& path) {
  std::vector<CommandShape> commands;
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    CommandShape& one = commands.emplace_back();
    one.name = command->get_name();
    one.path = path + one.name;
    one.help = command->get_description();
    for (CLI::Option* option : command->get_options(is_shown))
      (option->get_positional() ? one.positionals : one.options).push_back(shape_of(*option));
    one.commands = commands_below(*command, one.path + " ");
  }
  return commands;
}

}  // namespace

const char* const kListTargets = R"(ferry targets 2>/dev/null | sed -n 's/^\([^ ][^ ]*\).*/\1/p')";
const char* const kListDevices =
    R"(sh -c 'sed -n "s/^\[\(.*\)\] *\$/\1/p" "${FERRY_DEVICES:-${XDG_CONFIG_HOME:-$HOME/.config}/ferry/devices.toml}"' 2>/dev/null)";

std::vector<std::string> names_of(const std::vector<CommandShape>& commands) {
  std::vector<std::string> names;
  for (const CommandShape& command : commands) names.push_back(command.name);
  return names;
}

AppShape shape_of(const CLI::App& app) {
  AppShape shape;
  // CLI11 hands out an option's checks only where the option may be changed.
  auto& changeable = const_cast<CLI::App&>(app);
  for (CLI::Option* option : changeable.get_options(is_shown)) shape.options.push_back(shape_of(*option));
  shape.commands = commands_below(changeable, "");
  return shape;
}

}  // namespace ferry::cli
