#include <cstdio>
#include <memory>

#include "farm/cli/farm_command.h"
#include "farm/cli/farm_listing.h"
#include "farm/cli/farm_roles.h"
#include "host/cli/options/option_checks.h"

namespace ferry::cli {

namespace {

namespace wire = farm::wire;

int list_credentials(const FarmOptions& options, std::optional<wire::CredentialKind> kind, const char* none) {
  return print_listing(options, wire::ListCredentials(),
                       {{"KIND", "kind"},
                        {"NAME", "name"},
                        {"ROLE", "role"},
                        {"EXPIRES (UTC)", "expires"},
                        {"REVOKED (UTC)", "revoked"}},
                       none, SIZE_MAX,
                       [kind](const wire::CredentialListing& one, const auto&) { return !kind || one.kind == *kind; });
}

int revoke(const FarmOptions& options, wire::CredentialKind kind, const std::string& name) {
  farm::FarmClient client = connect_farm(options);
  value_or_throw(client.ask(wire::RevokeCredential{kind, name}));
  printf("revoked the %s of %s\n", kind == wire::CredentialKind::token ? "token" : "key", name.c_str());
  return kExitFine;
}

struct TokenOptions {
  FarmOptions farm;
  std::string name;
  std::string role = "user";
  std::string revoked;
  std::uint64_t days = 0;
  bool lists = false;
};

constexpr std::uint64_t kDayMs = 86'400'000;

int token(const TokenOptions& options) {
  if ((options.name.empty() ? 0 : 1) + (options.revoked.empty() ? 0 : 1) + (options.lists ? 1 : 0) != 1) {
    throw UsageError("expected one of NAME, --list and --revoke NAME");
  }
  if (options.lists) return list_credentials(options.farm, wire::CredentialKind::token, "there are no tokens");
  if (!options.revoked.empty()) return revoke(options.farm, wire::CredentialKind::token, options.revoked);
  farm::FarmClient client = connect_farm(options.farm);
  const std::string made =
      value_or_throw(client.ask(wire::AddToken{options.name, parse_role(options.role), options.days * kDayMs})).token;
  if (options.farm.json) {
    text::print_json({{"schema", "ferry.farm.token/1"}, {"name", options.name}, {"token", made}});
  } else {
    printf("%s\n", made.c_str());
  }
  return kExitFine;
}

}  // namespace

void add_farm_token(CLI::App& farm, Action& chosen) {
  auto options = std::make_shared<TokenOptions>();
  CLI::App& command =
      *farm.add_subcommand("token", "Make a token for the farm's web page and HTTP interface (by an admin)");
  command.add_option("name", options->name, "Whose token it is. It is shown once")->type_name("NAME");
  add_role_option(command, options->role);
  command.add_option("--days", options->days, "After how many days it expires (default: never)")
      ->type_name("N")
      ->check(CLI::Range(1, 36'500));
  command.add_flag("--list", options->lists, "Show who has tokens");
  command.add_option("--revoke", options->revoked, "Make the tokens of this person worthless")->type_name("NAME");
  add_farm_listing_options(command, options->farm);
  command.footer(
      "Examples:\n"
      "  ferry farm token alice --role viewer --days 90\n"
      "  ferry farm token --revoke alice");
  command.callback([options, &chosen] { chosen = [options](const Compiler*) { return token(*options); }; });
}

void add_farm_credentials(CLI::App& farm, Action& chosen) {
  struct Options {
    FarmOptions farm;
    std::string kind, name;
  };
  auto options = std::make_shared<Options>();
  CLI::App& command = *farm.add_subcommand("credentials", "Show who may use the farm, or revoke a key (by an admin)");
  command.add_option("--revoke", options->name, "Make this one worthless at once")->type_name("NAME");
  command.add_option("--kind", options->kind, "client, board, token or enrolment; for --revoke")
      ->type_name("KIND")
      ->check(one_of(words_of(wire::kCredentialKinds)));
  add_farm_listing_options(command, options->farm);
  command.footer(
      "Examples:\n"
      "  ferry farm credentials\n"
      "  ferry farm credentials --kind client --revoke alice");
  command.callback([options, &chosen] {
    chosen = [options](const Compiler*) -> int {
      std::optional<wire::CredentialKind> kind;
      for (const auto& word : wire::kCredentialKinds)
        if (options->kind == word.text) kind = word.value;
      if (options->name.empty()) return list_credentials(options->farm, kind, "nobody may use the farm");
      if (!kind) throw UsageError("--revoke: expected --kind client, board, token or enrolment with it");
      return revoke(options->farm, *kind, options->name);
    };
  });
}

}  // namespace ferry::cli
