#include "farm/cli/farm_roles.h"

#include <iterator>

#include "host/cli/options/option_checks.h"

namespace ferry::cli {

namespace {

// In the order of Role, which begins with 1.
constexpr const char* kRoles[] = {"viewer", "user", "admin"};

}  // namespace

void add_role_option(CLI::App& command, std::string& role) {
  command.add_option("--role", role, "viewer, user or admin: who looks, who also takes boards, who manages the farm")
      ->type_name("ROLE")
      ->check(one_of({std::begin(kRoles), std::end(kRoles)}))
      ->capture_default_str();
}

farm::wire::Role parse_role(const std::string& role) {
  for (std::size_t i = 0; i < std::size(kRoles); ++i)
    if (role == kRoles[i]) return static_cast<farm::wire::Role>(i + 1);
  return farm::wire::Role::viewer;
}

const char* role_name(farm::wire::Role role) {
  const auto number = static_cast<std::size_t>(role);
  return number >= 1 && number <= std::size(kRoles) ? kRoles[number - 1] : "unknown";
}

}  // namespace ferry::cli
