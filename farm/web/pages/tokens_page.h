// Writes the page on which admins see, make and revoke tokens.
#pragma once

#include <string>

#include "farm/web/pages/page.h"

namespace ferry::farm::http {

struct TokensView {
  wire::CredentialPage credentials;  // the page shows the tokens among them
  std::uint64_t after = 0;           // so many credentials are left out
  std::uint64_t now_ms = 0;
  std::string made;  // a new token, which is shown this once; or empty
};

std::string write_tokens_page(const Viewer& viewer, const TokensView& view);

}  // namespace ferry::farm::http
