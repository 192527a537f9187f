#include "host/lang/text.h"

#include "host/lang/analyze.h"
#include "host/lang/parser.h"

#include <algorithm>
#include <set>

namespace ferry::lang {

namespace {

unsigned line_of(const Source& source, std::size_t offset) {
  return 1 + static_cast<unsigned>(std::count(source.text().begin(), source.text().begin() + offset, '\n'));
}

std::shared_ptr<const ir::SourceLines> lines_of(const Source& source, const DefSyntax& def) {
  auto lines = std::make_shared<ir::SourceLines>();
  lines->file = source.file();
  lines->line = line_of(source, def.name.offset);
  for (const StatementSyntax& statement : def.statements) {
    const unsigned line = line_of(source, statement.target.offset);
    lines->stores.emplace(statement.target.text, line);
    if (statement.value_target) lines->stores.emplace(statement.value_target->text, line);
  }
  return lines;
}

}  // namespace

std::vector<Program> parse(std::string_view text, std::string_view file, bool lines) {
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
    if (lines) programs.back().lines = lines_of(source, def);
  }
  return programs;
}

}  // namespace ferry::lang
