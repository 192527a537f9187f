#include "host/lang/text.h"

#include "host/lang/analyze.h"
#include "host/lang/parser.h"

#include <set>

namespace ferry::lang {

std::vector<Program> parse(std::string_view text, std::string_view file) {
  const Source source(text, file);
  const std::vector<DefSyntax> defs = parse_syntax(source);
  std::vector<Program> programs;
  std::set<std::string_view> names;
  for (const DefSyntax& def : defs) {
    if (!names.insert(def.name.text).second) {
      throw source.error(def.name.offset,
                         "expected different names, got another def of '" + std::string(def.name.text) + "'");
    }
    programs.push_back(analyze(source, def));
  }
  return programs;
}

}  // namespace ferry::lang
