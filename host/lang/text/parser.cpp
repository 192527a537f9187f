#include "host/lang/text/parser.h"

#include "host/lang/names.h"
#include "host/lang/text/parse_expression.h"
#include "host/lang/text/token_reader.h"

#include <algorithm>

namespace ferry::lang {
namespace {

class Parser {
 public:
  explicit Parser(const Source& source) : source_(source), tokens_(source) {}

  std::vector<DefSyntax> run() {
    std::vector<DefSyntax> defs;
    while (!tokens_.at_end()) {
      if (!tokens_.at_name("def")) throw tokens_.unexpected("'def'");
      defs.push_back(def());
    }
    if (defs.empty()) throw source_.error(0, "expected 'def name(...) -> (...) { ... }', got nothing");
    return defs;
  }

 private:
  static Name name_of(const Token& token) { return {token.text, token.offset}; }

  DefSyntax def() {
    tokens_.take();
    DefSyntax def;
    def.name = name_of(tokens_.expect_name("the kernel's name after 'def'"));
    tokens_.expect_symbol("(");
    if (!tokens_.at_symbol(")")) {
      do {
        def.parameters.push_back(parameter());
      } while (tokens_.take_symbol(","));
    }
    if (tokens_.at_symbol("->")) throw source_.error(tokens_.peek().offset, "expected ')' before '->'");
    tokens_.expect_symbol(")", " or ',' after a parameter");
    tokens_.expect_symbol("->", " and the outputs");
    tokens_.expect_symbol("(", " and the names of the outputs");
    do {
      const Token output = tokens_.expect_name("the name of an output");
      if (tokens_.at_symbol("(") || tokens_.peek().kind == TokenKind::name) {
        throw source_.error(output.offset,
                            "expected only the name of the output: its type and shape follow from the body");
      }
      def.outputs.push_back(name_of(output));
    } while (tokens_.take_symbol(","));
    tokens_.expect_symbol(")", " or ',' after an output");
    tokens_.expect_symbol("{");
    while (!tokens_.take_symbol("}")) {
      if (tokens_.at_end() || tokens_.at_name("def")) {
        throw tokens_.unexpected("'}' at the end of '" + std::string(def.name.text) + "'");
      }
      if (tokens_.at_name("require") && tokens_.peek(1).text == "(") {
        def.requirements.push_back(requirement());
      } else {
        def.statements.push_back(statement());
      }
      tokens_.take_symbol(";");
    }
    return def;
  }

  ParameterSyntax parameter() {
    ParameterSyntax parameter;
    if (tokens_.at_name("const")) parameter.constant_offset = tokens_.take().offset;
    const Token type = tokens_.expect_name("a parameter such as 'float(M,K) A'");
    const std::optional<DType> dtype = parse_dtype(type.text);
    if (!dtype) {
      throw source_.error(type.offset, "expected a type, got '" + std::string(type.text) + "'" +
                                           suggestion(std::string(type.text), type_names()));
    }
    parameter.dtype = *dtype;
    if (tokens_.take_symbol("(")) {
      parameter.shape.emplace();
      if (!tokens_.at_symbol(")")) {
        do {
          parameter.shape->push_back(parse_expression(tokens_));
        } while (tokens_.take_symbol(","));
      }
      if (tokens_.at_symbol("->") || tokens_.peek().kind == TokenKind::name) {
        throw source_.error(tokens_.peek().offset,
                            "expected ')' before '" + std::string(tokens_.peek().text) + "', to end the shape");
      }
      tokens_.expect_symbol(")", " or ',' after a size");
    }
    if (parameter.constant_offset && !parameter.shape)
      throw source_.error(*parameter.constant_offset, "expected a tensor to be const, got a number");
    parameter.name = name_of(tokens_.expect_name("the parameter's name after its type"));
    if (tokens_.at_name("strides")) {
      parameter.strides_offset = tokens_.take().offset;
      if (!parameter.shape)
        throw source_.error(parameter.strides_offset, "expected a tensor to have strides, got a number");
      tokens_.expect_symbol("(", " and a stride for each dimension");
      do {
        parameter.strides.push_back(parse_expression(tokens_));
      } while (tokens_.take_symbol(","));
      tokens_.expect_symbol(")", " or ',' after a stride");
    }
    return parameter;
  }

  StatementSyntax statement() {
    StatementSyntax statement;
    std::vector<Token> first;  // where each index begins
    statement.target = name_of(tokens_.expect_name("a statement such as 'C(i) = A(i)'"));
    if (tokens_.take_symbol(",")) {
      statement.value_target = statement.target;
      statement.target = name_of(tokens_.expect_name("a second tensor after ',', as in 'V, I(i) argmax=! A(i,k)'"));
    }
    if (tokens_.take_symbol("(") && !tokens_.take_symbol(")")) {
      do {
        first.push_back(tokens_.peek());
        statement.left.push_back(parse_expression(tokens_));
      } while (tokens_.take_symbol(","));
      tokens_.expect_symbol(")", " or ',' after an index");
    }
    statement.assign_offset = tokens_.peek().offset;
    assignment(statement);
    if (statement.value_target && !finds_place(statement.assign)) {
      throw source_.error(statement.assign_offset,
                          "expected 'argmax=!' or 'argmin=!' after two tensors, got another operator");
    }
    statement.value = parse_expression(tokens_);
    if (tokens_.at_name("along")) {
      tokens_.take();
      statement.along = name_of(tokens_.expect_name("an index after 'along', as in 'S(i,j) += S(i,j-1) along j'"));
    }
    plain_indices(statement, first);
    if (tokens_.at_name("where")) {
      tokens_.take();
      do {
        statement.ranges.push_back(range());
      } while (tokens_.take_symbol(","));
    }
    const Token& next = tokens_.peek();
    if (next.kind != TokenKind::name && next.kind != TokenKind::end && !tokens_.at_symbol("}") &&
        !tokens_.at_symbol(";")) {
      throw tokens_.unexpected("an operator or the end of the statement");
    }
    return statement;
  }

  // Only updates in sequence may compute the indices that they store at.
  void plain_indices(StatementSyntax& statement, const std::vector<Token>& first) const {
    for (std::size_t i = 0; i < first.size(); ++i) {
      const Syntax& index = statement.left[i];
      if (index.kind == Syntax::Kind::name && first[i].kind == TokenKind::name) {
        statement.indices.push_back({index.text, index.offset});
        continue;
      }
      statement.indices.clear();
      if (statement.along) return;
      if (first[i].kind != TokenKind::name)
        throw source_.error(first[i].offset, "expected an index name on the left side, got " + described(first[i]));
      throw source_.error(first[i].offset,
                          "expected plain index names on the left side, as in C(i, j), or 'along' and " +
                              std::string("the index in whose order elements are updated"));
    }
    // 'Y(u,u) = 0 along u' updates a diagonal; without 'along' the second index is refused as a mistake.
    for (std::size_t i = 0; i < statement.indices.size() && statement.along; ++i) {
      const auto same = [&](const Name& other) { return other.text == statement.indices[i].text; };
      const auto rest = statement.indices.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      if (std::any_of(rest, statement.indices.end(), same)) return statement.indices.clear();
    }
  }

  void assignment(StatementSyntax& statement) {
    if (tokens_.take_symbol("=")) return;
    const struct {
      std::string_view text;
      Assign assign;
    } kNamed[] = {{"min", Assign::min}, {"max", Assign::max},       {"any", Assign::any},
                  {"all", Assign::all}, {"argmax", Assign::argmax}, {"argmin", Assign::argmin}};
    for (const auto& named : kNamed) {
      if (!tokens_.at_name(named.text)) continue;
      statement.assign = named.assign;
      tokens_.take();
      const Token equals = tokens_.expect_symbol("=", " or '=!' right after " + std::string(named.text));
      // In 'any= !x' the '!' belongs to the value.
      const bool adjacent = tokens_.peek().offset == equals.offset + equals.text.size();
      statement.initialise = adjacent && tokens_.take_symbol("!");
      return;
    }
    const struct {
      std::string_view text;
      Assign assign;
      bool initialise;
    } kForms[] = {{"+=", Assign::sum, false},
                  {"*=", Assign::prod, false},
                  {"+=!", Assign::sum, true},
                  {"*=!", Assign::prod, true}};
    for (const auto& form : kForms) {
      if (!tokens_.take_symbol(form.text)) continue;
      statement.assign = form.assign;
      statement.initialise = form.initialise;
      return;
    }
    throw tokens_.unexpected("'=', '+=', '*=', 'min=', 'max=', 'any=', 'all=', 'argmax=!' or 'argmin=!'");
  }

  RangeSyntax range() {
    RangeSyntax range;
    range.index = name_of(tokens_.expect_name("an index name, as in 'where i in 0:N'"));
    if (!tokens_.at_name("in")) throw tokens_.unexpected("'in' after the index, as in 'where i in 0:N'");
    tokens_.take();
    range.begin = parse_expression(tokens_);
    tokens_.expect_symbol(":", " between the ends of the range, as in 0:N");
    range.end = parse_expression(tokens_);
    return range;
  }

  RequireSyntax requirement() {
    RequireSyntax requirement;
    requirement.offset = tokens_.take().offset;
    tokens_.take();
    const std::size_t begin = tokens_.peek().offset;
    requirement.condition = parse_expression(tokens_);
    requirement.text = source_.text().substr(begin, tokens_.taken_to() - begin);
    if (tokens_.take_symbol(",")) {
      if (tokens_.peek().kind != TokenKind::string) throw tokens_.unexpected("a message in quotes");
      requirement.message = tokens_.take().text;
    }
    tokens_.expect_symbol(")", " after the requirement");
    return requirement;
  }

  const Source& source_;
  TokenReader tokens_;
};

}  // namespace

std::vector<DefSyntax> parse_syntax(const Source& source) {
  if (source.text().size() > kMaxText) {
    throw CompileError(source.file() + ": expected at most " + std::to_string(kMaxText) + " bytes of text, got " +
                       std::to_string(source.text().size()));
  }
  return Parser(source).run();
}

}  // namespace ferry::lang
