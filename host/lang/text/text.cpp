#include "ferry/lang/text.h"

#include "host/lang/text/analyze.h"
#include "host/lang/text/parser.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/function.h"

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

bool has_size(const DefSyntax& def, std::string_view name) {
  return std::any_of(def.parameters.begin(), def.parameters.end(), [&](const ParameterSyntax& parameter) {
    const std::vector<Syntax> shape = parameter.shape.value_or(std::vector<Syntax>());
    return std::any_of(shape.begin(), shape.end(),
                       [&](const Syntax& size) { return size.kind == Syntax::Kind::name && size.text == name; });
  });
}

}  // namespace

std::vector<Program> parse(std::string_view text, std::string_view file, bool lines, const FixedSizes& fixed) {
  const Source source(text, file);
  const std::vector<DefSyntax> defs = parse_syntax(source);
  for (const auto& [name, size] : fixed) {
    const auto has = [&](const DefSyntax& def) { return has_size(def, name); };
    if (std::none_of(defs.begin(), defs.end(), has))
      throw CompileError(std::string(file) + ": expected a size to fix, got '" + name + "', which no def has");
  }
  std::vector<Program> programs;
  std::set<std::string_view> names;
  for (const DefSyntax& def : defs) {
    if (!names.insert(def.name.text).second) {
      throw source.error(def.name.offset,
                         "expected different names, got another def of '" + std::string(def.name.text) + "'");
    }
    programs.push_back(analyze(source, def, fixed));
    if (lines) programs.back().lines = lines_of(source, def);
  }
  return programs;
}

}  // namespace ferry::lang
