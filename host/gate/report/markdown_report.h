// A report in the Markdown of GitHub and GitLab, for a comment on a pull request.
#pragma once

#include <cstddef>
#include <string>

#include "host/gate/api/report.h"

namespace ferry::gate {

struct MarkdownOptions {
  std::string page = {};            // address of the HTML page that cases link to, http or https; empty: no links
  std::size_t most_bytes = 60'000;  // GitHub refuses comments of more than 65,536 characters
};

// Whether links may lead to this address.
bool is_page_address(const std::string& address);

// Names neither become markup nor notify people whom they seem to mention. An address that is none makes no links.
std::string markdown_report(const Report& report, const MarkdownOptions& options = {});

}  // namespace ferry::gate
