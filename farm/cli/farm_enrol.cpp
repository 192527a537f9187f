#include <cstdio>
#include <filesystem>
#include <memory>

#include "farm/cli/farm_command.h"
#include "farm/cli/farm_options.h"
#include "farm/cli/farm_roles.h"
#include "host/cli/options/option_checks.h"

namespace ferry::cli {

namespace {

namespace wire = farm::wire;

struct EnrolOptions {
  FarmOptions farm;
  std::string board;
  std::vector<std::string> tags;
  std::string machine;
  bool shares_machine = false;
  std::string client;
  std::string role = "user";
  std::string output;
};

wire::Label parse_tag(const std::string& text) {
  const std::size_t equals = text.find('=');
  wire::Label tag{text.substr(0, equals), equals == std::string::npos ? "" : text.substr(equals + 1)};
  if (tag.name.empty()) throw UsageError("--tag: expected NAME or NAME=VALUE, got '" + text + "'");
  return tag;
}

void write_key(const std::string& file, const secure::KeyBytes& psk) {
  if (const Status written = secure::write_key_file(file, {psk}); !written.is_ok()) throw UsageError(written.message());
}

int enrol(const EnrolOptions& options) {
  if (options.board.empty() == options.client.empty()) {
    throw UsageError("expected a board or --client NAME" + std::string(options.board.empty() ? "" : ", got both"));
  }
  // A key that cannot be stored would be lost.
  if (std::filesystem::exists(options.output)) {
    throw UsageError("--output: expected a new file, got " + options.output + ", which exists");
  }
  farm::FarmClient client = connect_farm(options.farm);
  const char* const file = options.output.c_str();
  const std::string trackers = farm::to_text(client.farm().trackers);
  if (!options.client.empty()) {
    write_key(options.output,
              value_or_throw(client.ask(wire::AddClient{options.client, parse_role(options.role)})).psk);
    printf("made %s, the key of %s, who keeps it readable for nobody else and names it in devices.toml:\n\n", file,
           options.client.c_str());
    printf("  [%s]\n  farm = \"%s\"\n  key = \"%s\"\n", "lab", trackers.c_str(), file);
    return kExitFine;
  }
  wire::EnrolBoard query{options.board, {}, options.machine, options.shares_machine};
  for (const std::string& text : options.tags) query.tags.push_back(parse_tag(text));
  write_key(options.output, value_or_throw(client.ask(query)).psk);
  printf("made %s, with which the board %s can join once and gets its own key. Copy it there and start:\n\n", file,
         options.board.c_str());
  printf("  rpc_server --farm %s --farm-key %s --workdir DIR\n", trackers.c_str(), file);
  return kExitFine;
}

}  // namespace

void add_farm_enrol(CLI::App& farm, Action& chosen) {
  auto options = std::make_shared<EnrolOptions>();
  CLI::App& command = *farm.add_subcommand("enrol", "Add a board to the farm, or a client (by an admin)");
  command.add_option("board", options->board, "The name of the board")->type_name("BOARD");
  command.add_option("--tag", options->tags, "What requests may ask of it, such as bench or rack=3")
      ->type_name("NAME=VALUE")
      ->type_size(1)
      ->allow_extra_args(false);
  command.add_option("--machine", options->machine, "On which machine it is, in place of what the board says")
      ->type_name("NAME");
  command.add_flag("--share-machine", options->shares_machine,
                   "It may be leased at the same time as other boards of its machine");
  command.add_option("--client", options->client, "In place of a board: in whose name the client's leases are")
      ->type_name("NAME");
  add_role_option(command, options->role);
  command.add_option("-o,--output,--key-file-out", options->output, "Where to put the key, readable for you alone")
      ->type_name("FILE")
      ->required();
  add_farm_options(command, options->farm);
  command.footer(
      "Examples:\n"
      "  ferry farm enrol pi-3 --tag bench --output pi-3.key\n"
      "  ferry farm enrol --client alice --role user --output alice.key");
  command.callback([options, &chosen] { chosen = [options](const Compiler*) { return enrol(*options); }; });
}

}  // namespace ferry::cli
