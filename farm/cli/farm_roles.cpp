#include "farm/cli/farm_roles.h"

#include "host/cli/options/option_checks.h"

namespace ferry::cli {

void add_role_option(CLI::App& command, std::string& role) {
  command.add_option("--role", role, "viewer, user or admin: who looks, who also takes boards, who manages the farm")
      ->type_name("ROLE")
      ->check(one_of(words_of(farm::wire::kRoles)))
      ->capture_default_str();
}

farm::wire::Role parse_role(const std::string& role) {
  for (const auto& word : farm::wire::kRoles)
    if (role == word.text) return word.value;
  return farm::wire::Role::viewer;
}

}  // namespace ferry::cli
