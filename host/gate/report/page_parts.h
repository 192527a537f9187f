// Elements that the gate's HTML pages have in common.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "host/gate/report/words.h"
#include "host/html/html.h"

namespace ferry::gate {

// Returns a page that needs and runs nothing else, with what `body` writes below the heading.
std::string write_page(const std::string& title, const std::string& heading, const std::string& footer,
                       const std::function<void(html::Html&)>& body);

// The class of the style sheet.
const char* style_of(Severity severity);
// The verdict as a word, with a mark that is visible without colours.
void write_verdict(html::Html& html, Verdict verdict);

// An entry of a list of facts; writes nothing where the value is empty.
void write_fact(html::Html& html, std::string_view name, std::string_view value);

}  // namespace ferry::gate
