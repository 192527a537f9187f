// The part of the HTML page about one result.
#pragma once

#include <string>

#include "host/gate/api/report.h"
#include "host/text/html.h"

namespace ferry::gate {

// `anchor` is the id of the section, with which other ids in it begin. A folded one shows its title until it is opened.
void write_case(html::Html& html, const CaseResult& result, const std::string& anchor, bool is_folded);

}  // namespace ferry::gate
