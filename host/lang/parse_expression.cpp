#include "host/lang/parse_expression.h"

namespace ferry::lang {
namespace {

// Nested parentheses, operators and calls; bounds the recursion here and in everything that walks the result.
constexpr int kMaxNesting = 200;

// How tightly a binary operator binds; 0 for what is none.
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

class Parser {
 public:
  explicit Parser(TokenReader& tokens) : tokens_(tokens) {}

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
    explicit Deeper(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxNesting) {
        throw parser_.tokens_.source().error(
            parser_.tokens_.peek().offset,
            "expected a simpler expression, got one nested " + std::to_string(kMaxNesting) + " levels deep");
      }
    }
    ~Deeper() { --parser_.nesting_; }
    Parser& parser_;
  };

  Syntax join(Syntax::Kind kind, const Token& op, std::vector<Syntax> parts) const {
    Syntax node;
    node.kind = kind;
    node.offset = op.offset;
    node.begin = kind == Syntax::Kind::binary || kind == Syntax::Kind::choice ? parts[0].begin : op.offset;
    node.end = tokens_.taken_to();
    node.text = op.text;
    node.parts = std::move(parts);
    return node;
  }

  Syntax binary(int least) {
    Syntax left = unary();
    // A long chain a + b + c ... leans to the left, so its tree is as deep as it is long.
    int chain = 0;
    while (precedence(tokens_.peek()) >= least) {
      const Token op = tokens_.take();
      if (++chain > kMaxChain) {
        throw tokens_.source().error(op.offset, "expected a simpler expression, got one of more than " +
                                                    std::to_string(kMaxChain) + " operators in a row");
      }
      Syntax right = binary_operand(precedence(op) + 1);
      left = join(Syntax::Kind::binary, op, make_parts(std::move(left), std::move(right)));
    }
    return left;
  }

  Syntax binary_operand(int least) {
    const Deeper deeper(*this);
    return binary(least);
  }

  // An initializer list would copy whole trees.
  template <class... Part>
  static std::vector<Syntax> make_parts(Part... part) {
    std::vector<Syntax> parts;
    (parts.push_back(std::move(part)), ...);
    return parts;
  }

  Syntax unary() {
    const Deeper deeper(*this);
    for (const std::string_view op : {"-", "+", "!", "~"}) {
      if (!tokens_.at_symbol(op)) continue;
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
    } while (tokens_.take_symbol(","));
    tokens_.expect_symbol(")", " or ','");
    call.end = tokens_.taken_to();
    return call;
  }

  static constexpr int kMaxChain = 500;

  TokenReader& tokens_;
  int nesting_ = 0;
};

}  // namespace

Syntax parse_expression(TokenReader& tokens) { return Parser(tokens).choice(); }

}  // namespace ferry::lang
