// The style sheet of the HTML pages, host/text/base.css and page.css. It contains no character that HTML gives a
// meaning.
#pragma once

#include <string_view>

namespace ferry::gate {

std::string_view page_style();

}  // namespace ferry::gate
