// The pages that need no data of the farm: logging in, and messages.
#pragma once

#include <string>

#include "farm/web/pages/page.h"

namespace ferry::farm::http {

// The viewer's csrf is that of the form.
std::string write_login_page(const Viewer& viewer);
std::string write_message_page(const Viewer& viewer, std::string_view title, std::string_view text);

}  // namespace ferry::farm::http
