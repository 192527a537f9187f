#include <cstdio>
#include <memory>

#include "base/throw_status.h"
#include "farm/cli/farm_command.h"
#include "host/cli/options/option_checks.h"

namespace ferry::cli {

void add_farm_serve(CLI::App& farm, Action& chosen, const farm::FarmHost& host) {
  auto options = std::make_shared<farm::ServeOptions>();
  CLI::App& command = *farm.add_subcommand("serve", "Run the farm's tracker, which decides who gets which board");
  command.add_option("--listen", options->listen, "Where boards and clients reach it; port 0: any free one")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  command
      .add_option("--http", options->http, "Where browsers reach the farm's page and HTTP interface (default: none)")
      ->type_name("HOST:PORT");
  command.add_flag("--behind-proxy", options->behind_proxy,
                   "Browsers come through a proxy with TLS: allows --http addresses that other machines reach");
  command
      .add_option("--database", options->database,
                  "What must survive a restart: a file, or postgresql://... for several trackers")
      ->type_name("FILE|URI")
      ->check(some_text("a database"))
      ->capture_default_str();
  command
      .add_option("--key-file", options->key_file,
                  "The farm's master key, made at the first start (default: FILE.key beside the database FILE.db)")
      ->type_name("FILE");
  command.add_option("--config", options->config, "farm.toml: boards, weights, health checks, notifications")
      ->type_name("FILE");
  command.footer(
      "At the first start it makes the master key, from which all keys of the farm derive, and the key of an admin.\n"
      "SIGHUP makes it read farm.toml again. Leases go on while no tracker runs.\n\n"
      "Examples:\n"
      "  ferry farm serve --listen 0.0.0.0:9191 --http 127.0.0.1:8080\n"
      "  ferry farm serve --database postgresql:///farm --config /etc/ferry/farm.toml");
  command.callback([options, &chosen, serve = host.serve] {
    chosen = [options, serve](const Compiler* compiler) -> int {
      throw_failure(serve(*options, *compiler));
      return kExitFine;
    };
  });
}

void add_farm_backup(CLI::App& farm, Action& chosen, const farm::FarmHost& host) {
  struct Options {
    std::string database = "farm.db", destination;
  };
  auto options = std::make_shared<Options>();
  CLI::App& command = *farm.add_subcommand("backup", "Copy the tracker's database, also while the tracker runs");
  command.add_option("destination", options->destination, "The copy, which is replaced once it is complete")
      ->type_name("FILE")
      ->required();
  command.add_option("--database", options->database, "The database, a file")->type_name("FILE")->capture_default_str();
  command.footer(
      "The modules of 'ferry gate', in a file of their own, are copied too: those of farm.db are in farm.modules.db.\n"
      "The copy holds no keys: keep the master key and the file of revocations beside it, in another place. A "
      "database\n"
      "of PostgreSQL is copied with pg_dump.");
  command.callback([options, &chosen, back_up = host.back_up] {
    chosen = [options, back_up](const Compiler*) -> int {
      throw_failure(back_up(options->database, options->destination));
      printf("copied %s to %s\n", options->database.c_str(), options->destination.c_str());
      return kExitFine;
    };
  });
}

}  // namespace ferry::cli
