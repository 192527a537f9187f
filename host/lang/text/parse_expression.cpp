#include "host/lang/text/parse_expression.h"

#include "crosscompile/ir/node.h"

#include <algorithm>

namespace ferry::lang {
namespace {

// Nesting depth of parentheses, operators and calls. The limit bounds the recursion here and in everything that walks
// the result. It leaves room for the loops that lowering puts around an expression.
constexpr std::uint32_t kMaxNesting = 800;
static_assert(kMaxNesting < ir::kMaxDepth);

// Precedence of a binary operator; 0 for any other token.
int precedence(const Token& token) {
  if (token.kind != TokenKind::symbol) return 0;
  const std::string_view op = token.text;
  if (op == "||") return 1;
  if (op == "&&") return 2;
  if (op == "|") return 3;
  if (op == "^") return 4;
  if (op == "&") return 5;
  if (op == "==" || op == "!=") return 6;
  if (op == "<" || op == "<=" || op == ">" || op == ">=") return 7;
  if (op == "<<" || op == ">>") return 8;
  if (op == "+" || op == "-") return 9;
  if (op == "*" || op == "/" || op == "%") return 10;
  return 0;
}

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenReader& tokens) : tokens_(tokens) {}

  Syntax choice() {
    const Deeper deeper(*this);
    Syntax condition = binary(1);
    if (!tokens_.at_symbol("?")) return condition;
    const Token op = tokens_.take();
    Syntax on_true = choice();
    tokens_.expect_symbol(":", " and the value for when the condition does not hold");
    Syntax on_false = choice();
    return join(Syntax::Kind::choice, op, make_parts(std::move(condition), std::move(on_true), std::move(on_false)));
  }

 private:
  struct Deeper {
    explicit Deeper(ExpressionParser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxNesting) parser_.refuse_depth(parser_.tokens_.peek().offset);
    }
    ~Deeper() { --parser_.nesting_; }
    ExpressionParser& parser_;
  };

  [[noreturn]] void refuse_depth(std::size_t offset) const {
    throw tokens_.source().error(offset, "expected a simpler expression, got one nested more than " +
                                             std::to_string(kMaxNesting) + " levels deep");
  }

  // A long chain a + b + c ... is left-associative, so its tree is as deep as it is long.
  void deepen(Syntax& node, const Syntax& part) const {
    node.depth = std::max(node.depth, part.depth + 1);
    if (node.depth > kMaxNesting) refuse_depth(node.offset);
  }

  Syntax join(Syntax::Kind kind, const Token& op, std::vector<Syntax> parts) const {
    Syntax node;
    node.kind = kind;
    node.offset = op.offset;
    node.begin = kind == Syntax::Kind::binary || kind == Syntax::Kind::choice ? parts[0].begin : op.offset;
    node.end = tokens_.taken_to();
    node.text = op.text;
    node.parts = std::move(parts);
    for (const Syntax& part : node.parts) deepen(node, part);
    return node;
  }

  Syntax binary(int least) {
    Syntax left = unary();
    while (precedence(tokens_.peek()) >= least) {
      const Token op = tokens_.take();
      Syntax right = binary(precedence(op) + 1);
      left = join(Syntax::Kind::binary, op, make_parts(std::move(left), std::move(right)));
    }
    return left;
  }

  // An initializer list would copy whole trees.
  template <class... Part>
  static std::vector<Syntax> make_parts(Part... part) {
    std::vector<Syntax> parts;
    (parts.push_back(std::move(part)), ...);
    return parts;
  }

  Syntax unary() {
    for (const std::string_view op : {"-", "+", "!", "~"}) {
      if (!tokens_.at_symbol(op)) continue;
      const Deeper deeper(*this);
      const Token token = tokens_.take();
      return join(Syntax::Kind::unary, token, make_parts(unary()));
    }
    return primary();
  }

  Syntax primary() {
    const Token& next = tokens_.peek();
    if (next.kind == TokenKind::integer || next.kind == TokenKind::real) {
      const Token token = tokens_.take();
      Syntax number = join(Syntax::Kind::number, token, {});
      number.token = token;
      return number;
    }
    if (tokens_.at_symbol("(")) {
      const std::size_t begin = tokens_.take().offset;
      Syntax inner = choice();
      tokens_.expect_symbol(")");
      inner.begin = begin;
      inner.end = tokens_.taken_to();
      return inner;
    }
    if (next.kind != TokenKind::name) throw tokens_.unexpected("an expression");
    const Token name = tokens_.take();
    if (tokens_.at_symbol("[")) {
      throw tokens_.source().error(tokens_.peek().offset, "expected '(' after '" + std::string(name.text) +
                                                              "': indices stand in parentheses, as in " +
                                                              std::string(name.text) + "(i, j)");
    }
    if (!tokens_.take_symbol("(")) return join(Syntax::Kind::name, name, {});
    Syntax call = join(Syntax::Kind::call, name, {});
    if (tokens_.take_symbol(")")) {
      call.end = tokens_.taken_to();
      return call;
    }
    do {
      call.parts.push_back(choice());
      deepen(call, call.parts.back());
    } while (tokens_.take_symbol(","));
    tokens_.expect_symbol(")", " or ','");
    call.end = tokens_.taken_to();
    return call;
  }

  TokenReader& tokens_;
  std::uint32_t nesting_ = 0;
};

}  // namespace

Syntax parse_expression(TokenReader& tokens) { return ExpressionParser(tokens).choice(); }

}  // namespace ferry::lang
