// The ferry with a compiler, which can also be the tracker of a farm.
#include "farm/cli/farm_command.h"
#include "farm/serve/serve.h"
#include "host/cli/program/program.h"

int main(int count, char** words) {
  return ferry::cli::run_program(count, words, [](CLI::App& app, ferry::cli::Action& chosen) {
    static constexpr ferry::farm::FarmHost kHost{ferry::farm::serve, ferry::farm::back_up};
    ferry::cli::add_farm(app, chosen, &kHost);
  });
}
