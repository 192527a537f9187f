// The style sheet of reports, base.css and report.css. It contains no character that HTML gives a meaning.
#pragma once

#include <string_view>

namespace ferry::html {

std::string_view report_style();

}  // namespace ferry::html
