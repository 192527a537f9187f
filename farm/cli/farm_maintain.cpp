#include <cstdio>
#include <memory>

#include "farm/cli/farm_command.h"
#include "farm/cli/farm_options.h"

namespace ferry::cli {

namespace {

namespace wire = farm::wire;

struct BoardOptions {
  FarmOptions farm;
  std::string board;
  bool is_returned = false;
};

int order(const BoardOptions& options, wire::BoardOrder what, const char* done) {
  farm::FarmClient client = connect_farm(options.farm);
  value_or_throw(client.ask(wire::OrderBoard{options.board, what}));
  printf("%s %s\n", options.board.c_str(), done);
  return kExitFine;
}

void add_board(CLI::App& command, BoardOptions& options) {
  command.add_option("board", options.board, "The board's name")->type_name("BOARD")->required();
  add_farm_options(command, options.farm);
}

}  // namespace

void add_farm_maintain(CLI::App& farm, Action& chosen) {
  auto options = std::make_shared<BoardOptions>();
  CLI::App& command =
      *farm.add_subcommand("maintain", "Take a board out of service for a while; a lease of it goes on");
  add_board(command, *options);
  command.add_flag("--return", options->is_returned, "Return it to service, also one that was retired or is bad");
  command.footer(
      "Examples:\n"
      "  ferry farm maintain pi-3\n"
      "  ferry farm maintain pi-3 --return");
  command.callback([options, &chosen] {
    chosen = [options](const Compiler*) {
      return options->is_returned ? order(*options, wire::BoardOrder::return_to_service, "is in service again")
                                  : order(*options, wire::BoardOrder::maintain, "is in maintenance");
    };
  });
}

void add_farm_retire(CLI::App& farm, Action& chosen) {
  auto options = std::make_shared<BoardOptions>();
  CLI::App& command = *farm.add_subcommand("retire", "Take a board out of service for good; a lease of it goes on");
  add_board(command, *options);
  command.footer(
      "Examples:\n"
      "  ferry farm retire pi-3");
  command.callback([options, &chosen] {
    chosen = [options](const Compiler*) { return order(*options, wire::BoardOrder::retire, "is retired"); };
  });
}

}  // namespace ferry::cli
