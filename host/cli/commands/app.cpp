#include "host/cli/commands/app.h"

#include <algorithm>

#include "base/quantity_text.h"
#include "host/cli/options/help_formatter.h"
#include "host/cli/options/option_checks.h"
#include "host/lang/names.h"
#include "host/text/style.h"

namespace ferry::cli {

namespace {

using Names = std::vector<std::string>;

// Returns "ferry farm devices".
std::string path_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return (parent == nullptr ? "" : path_of(*parent) + " ") + command.get_name();
}

Names command_names(const CLI::App& app) {
  Names names;
  for (const CLI::App* command : commands_of(app)) names.push_back(command->get_name());
  return names;
}

Names option_names(const CLI::App& command) {
  Names names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

const CLI::Option* option_of(const CLI::App& command, const std::string& name) {
  return command.get_option_no_throw(name);
}

// Returns "'ferry bench' has it" when other commands have the option; empty if none has. Those of the same group come
// first.
std::string elsewhere(const CLI::App& command, const std::string& option) {
  Names others;
  const CLI::App* group = command.get_parent();
  for (; group != nullptr && others.empty(); group = group->get_parent())
    for (const CLI::App* other : commands_of(*group))
      if (other != &command && option_of(*other, option) != nullptr) others.push_back("'" + path_of(*other) + "'");
  if (others.empty()) return "";
  return "; " + join(", ", others) + (others.size() == 1 ? " has it" : " have it");
}

// Whether the command does something itself, also if it has commands.
bool takes_arguments(const CLI::App& command) {
  return std::ranges::any_of(command.get_options(), [](const CLI::Option* option) { return option->get_positional(); });
}

std::string usage_of(const CLI::App& command) {
  std::string usage = path_of(command);
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional()) usage += " " + option->get_name(true);
  return usage;
}

// Returns "; expected --fn-a or --fn-b" for an option that the command has for each of two kernels.
std::string of_each_kernel(const CLI::App& command, const std::string& option) {
  Names found;
  for (const char* kernel : {"-a", "-b"})
    if (option_of(command, option + kernel) != nullptr) found.push_back(option + kernel);
  return found.empty() ? "" : "; expected " + join(" or ", found);
}

// One letter is near to every other.
std::string near_option(const std::string& option, const Names& names) {
  return option.starts_with("--") ? lang::suggestion(option, names) : "";
}

std::string unknown_option(const CLI::App& app, const CLI::App* command, const std::string& word) {
  const std::string option = word.substr(0, word.find('='));
  if (command == nullptr) return "there is no option '" + option + "'" + near_option(option, option_names(app));
  std::string other = of_each_kernel(*command, option);
  if (other.empty()) other = elsewhere(*command, option);
  return "'" + path_of(*command) + "' has no option '" + option + "'" +
         (other.empty() ? near_option(option, option_names(*command)) : other);
}

std::string unknown_command(const CLI::App& app, const std::string& word) {
  const Names names = command_names(app);
  const std::string meant = lang::suggestion(word, names);
  return "there is no command '" + word + "'" + (meant.empty() ? "; expected one of: " + join(", ", names) : meant);
}

// An option before the command, or a word that is no command.
std::string mistake_before_command(const CLI::App& app, const CLI::App* command, const std::string& word) {
  if (!word.starts_with('-')) return unknown_command(app, word);
  const std::string option = word.substr(0, word.find('='));
  if (command == nullptr || option_of(*command, option) == nullptr) return unknown_option(app, nullptr, word);
  return "expected '" + option + "' after the command: " + path_of(*command) + " " + option;
}

std::string too_many(const CLI::App& command, const std::string& option) {
  const std::string once = option + ": expected it once, got it several times";
  for (const CLI::App* other : commands_of(*command.get_parent())) {
    const CLI::Option* same = option_of(*other, option);
    if (other != &command && same != nullptr && same->get_expected_max() > 1)
      return once + "; '" + path_of(*other) + "' takes several";
  }
  return once;
}

// `word` is the first argument that the command has no place for.
std::string one_argument_too_many(const CLI::App& command, const std::string& word) {
  const bool is_size = word.find('=') != std::string::npos && option_of(command, "--size") != nullptr;
  return "'" + word + "' is one argument too many: " + usage_of(command) +
         (is_size ? "; several sizes stand together, as in --size M=4,N=4" : "");
}

std::string message_of(const CLI::App& app, const CLI::App* command, const CLI::ParseError& error) {
  const std::string said = error.what();
  const auto before = [&](const char* text) { return said.substr(0, said.find(text)); };
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    if (said.find(": At Most") != std::string::npos && command != nullptr)
      return too_many(*command, before(": At Most"));
    return before(":") + ": expected a value after it";
  }
  if (const std::string excludes = " excludes "; dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    return "expected " + before(excludes.c_str()) + " or " + said.substr(said.find(excludes) + excludes.size()) +
           ", got both";
  // Only flags convert their values by themselves; the other options have checks.
  if (const std::string start = "Could not convert: "; said.starts_with(start)) {
    const std::size_t equals = said.find(" = ");
    return said.substr(start.size(), equals - start.size()) + ": expected no value, got '" + said.substr(equals + 3) +
           "'";
  }
  const bool has_commands = command != nullptr && !commands_of(*command).empty();
  const bool is_group = has_commands && !takes_arguments(*command);
  if (command == nullptr || is_group) {
    const Names extra = is_group ? command->remaining() : app.remaining();
    const CLI::App& group = is_group ? *command : app;
    if (extra.empty()) return "expected a command: " + join(", ", command_names(group));
    if (is_group && !extra.front().starts_with('-')) return unknown_command(group, extra.front());
    return mistake_before_command(app, command, extra.front());
  }
  if (has_commands && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    return "expected " + before(" is required") + ", or a command: " + join(", ", command_names(*command));
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    return "expected " + before(" is required") + ": " + usage_of(*command);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return said;
  if (const Names extra = app.remaining(); !extra.empty()) return mistake_before_command(app, command, extra.front());
  const Names extra = command->remaining();
  const auto option = std::find_if(extra.begin(), extra.end(), [](const auto& word) { return word.starts_with('-'); });
  if (option != extra.end()) return unknown_option(app, command, *option);
  return one_argument_too_many(*command, extra.front());
}

// Returns the command that was given, within a group of commands that of the group; null if there is none.
const CLI::App* parsed_command(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  if (commands.empty()) return nullptr;
  const CLI::App* inner = parsed_command(*commands.front());
  return inner != nullptr ? inner : commands.front();
}

// Options that every command has.
void add_common_options(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--color",
          [](const std::string& when) {
            text::use_color(when == "always"  ? text::UseColor::always
                            : when == "never" ? text::UseColor::never
                                              : text::UseColor::automatic);
          },
          "Colours: auto (on a terminal, unless NO_COLOR is set), always or never")
      ->type_name("WHEN")
      ->check(one_of({"auto", "always", "never"}))
      ->group("Output");
}

void add_common_options_below(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    add_common_options(*command);
    add_common_options_below(*command);
  }
}

}  // namespace

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

void add_commands(CLI::App& app, Action& chosen, const session::Schemes& schemes, const MoreCommands& more) {
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(
      "'ferry help COMMAND' shows a command's options and examples. --remote or FERRY_REMOTE names the rpc_server to\n"
      "use; without either, ferry starts one on this machine and ends it when done. Names of devices, their addresses\n"
      "and keys stand in ~/.config/ferry/devices.toml. 'ferry help completion' says how to complete commands in bash,\n"
      "zsh and fish.\n\n" +
      exit_codes_text());
  add_device(app, chosen, schemes);
  add_targets(app, chosen);
  add_compile(app, chosen, schemes, more.read_records);
  add_export(app, chosen, more.read_records);
  add_diff(app, chosen);
  add_inspect(app, chosen, more.code);
  add_check(app, chosen);
  add_run(app, chosen, schemes, more.read_records, more.read_media, more.peer);
  add_bench(app, chosen, schemes, more.read_records, more.read_media);
  add_compare(app, chosen, schemes, more.code);
  add_ping(app, chosen, schemes);
  add_status(app, chosen, schemes);
  if (more.add_tune != nullptr) more.add_tune(app, chosen, schemes);
  if (more.add_gate != nullptr) more.add_gate(app, chosen, schemes, more.read_records);
  if (more.add_farm != nullptr) more.add_farm(app, chosen);
  add_keygen(app, chosen);
  add_completion(app, chosen);
  add_help(app, chosen);
  add_common_options(app);
  add_common_options_below(app);
}

std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = parsed_command(app);
  const std::string path = command == nullptr ? "" : path_of(*command).substr(app.get_name().size() + 1);
  return message_of(app, command, error) + "\nTry 'ferry " + (command == nullptr ? "--help'." : "help " + path + "'.");
}

std::string help_text(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* found = &app;
  for (const std::string& word : words) {
    const auto inner = commands_of(*found);
    const auto named =
        std::find_if(inner.begin(), inner.end(), [&](const auto* one) { return one->get_name() == word; });
    if (named == inner.end()) {
      throw UsageError(inner.empty() ? "'" + path_of(*found) + "' has no commands, got '" + word + "'"
                                     : unknown_command(*found, word));
    }
    found = *named;
  }
  return app.get_formatter()->make_help(found, path_of(*found), CLI::AppFormatMode::Normal);
}

}  // namespace ferry::cli
