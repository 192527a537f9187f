// The directives of a module: its declarations and their layout (PTX ISA, "PTX Module Directives", "Variables").
#include "crosscompile/ptx/parser.h"

#include <cstring>
#include <memory>

#include "crosscompile/ptx/demangled.h"

namespace ferry::ptx {
namespace {

std::string last_part(const std::string& name) {
  const std::size_t colons = name.rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

Word lay_out(Word end, std::size_t alignment) {
  // The address has exactly the requested alignment and no larger one.
  const Word up = (end + kGap + 2 * alignment - 1) / (2 * alignment) * (2 * alignment);
  return up + alignment;
}

}  // namespace

Space space_named(const std::string& word) {
  if (word == ".global" || word == ".const") return Space::global;
  if (word == ".shared") return Space::shared;
  if (word == ".local") return Space::local;
  if (word == ".param") return Space::param;
  throw ParseError("expected a state space, got '" + word + "'");
}

Parser::Parser(const std::string& text) : tokens_(tokens_of(text)) {}

void Parser::fail(const std::string& what) const {
  throw ParseError("PTX line " + std::to_string(peek().line) + ": " + what + ", got '" + peek().text + "'");
}

Token Parser::next() {
  const Token token = tokens_[at_];
  if (token.kind != TokenKind::end) ++at_;
  return token;
}

bool Parser::take(const std::string& text) {
  if (peek().text != text || peek().kind == TokenKind::end) return false;
  ++at_;
  return true;
}

void Parser::expect(const std::string& text) {
  if (!take(text)) fail("expected '" + text + "'");
}

Word Parser::number() {
  const bool is_negative = take("-");
  if (peek().kind != TokenKind::number) fail("expected a number");
  const std::string text = next().text;
  Word value = 0;
  if (text.starts_with("0f") || text.starts_with("0F") || text.starts_with("0d") || text.starts_with("0D")) {
    value = std::stoull(text.substr(2), nullptr, 16);
    if (is_negative) fail("expected a float without a sign of its own");
  } else {
    if (text.find_first_of(".eE") != std::string::npos && !text.starts_with("0x")) fail("expected a float by its bits");
    value = std::stoull(text, nullptr, 0);
  }
  return is_negative ? 0 - value : value;
}

// Parses the part after the type: NAME, NAME[COUNT], NAME[], and the initializer.
Parser::Variable Parser::variable(Type type) {
  Variable made;
  made.name = next().text;
  made.bytes = bytes_of(type);
  while (take("[")) {
    if (take("]")) {
      made.is_dynamic = true;
      continue;
    }
    made.bytes *= number();
    expect("]");
  }
  if (!take("=")) return made;
  const auto one = [&] {
    const Word value = number();
    for (unsigned i = 0; i < bytes_of(type); ++i) made.content.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  };
  if (take("{")) {
    while (!take("}")) {
      one();
      take(",");
    }
  } else {
    one();
  }
  made.content.resize(made.bytes);
  return made;
}

// Parses the part after the state space.
void Parser::declare(Space space, Function* function) {
  std::size_t alignment = 1;
  bool has_alignment = false;
  Type type = Type::b8;
  for (;;) {
    if (take(".align")) {
      alignment = number();
      has_alignment = true;
    } else if (peek().text.starts_with(".") && type_named(peek().text.substr(1))) {
      type = *type_named(next().text.substr(1));
      break;
    } else {
      fail("expected a variable's type or alignment");
    }
  }
  if (!has_alignment) alignment = bytes_of(type);
  do {
    const Variable made = variable(type);
    Symbol symbol{space, 0, made.bytes, made.is_dynamic};
    std::map<std::string, Symbol>& symbols = function != nullptr ? function->symbols : program_.symbols;
    switch (space) {
      case Space::global:
        symbol.offset = lay_out(program_.memory.size(), alignment);
        program_.memory.resize(symbol.offset + made.bytes);
        std::copy(made.content.begin(), made.content.end(),
                  program_.memory.begin() + static_cast<std::ptrdiff_t>(symbol.offset));
        program_.global.push_back({symbol.offset, made.bytes, plain_name(made.name)});
        break;
      case Space::shared:
        symbol.offset = made.is_dynamic ? kDynamicShared + alignment : lay_out(shared_end_, alignment);
        if (!made.is_dynamic) shared_end_ = symbol.offset + made.bytes;
        break;
      case Space::local:
        if (function == nullptr) fail("expected local memory in a function");
        symbol.offset = lay_out(local_end_, alignment);
        local_end_ = symbol.offset + made.bytes;
        function->local.push_back({symbol.offset, made.bytes, plain_name(made.name)});
        break;
      case Space::param:
        if (function == nullptr) fail("expected parameters in a function");
        symbol.offset = (function->parameter_bytes + alignment - 1) / alignment * alignment;
        function->parameter_bytes = symbol.offset + made.bytes;
        break;
      case Space::generic: fail("expected a state space");
    }
    symbols[made.name] = symbol;
    if (space == Space::param) last_parameter_ = made.name;
  } while (take(","));
}

void Parser::parameters(Function& function, std::vector<Parameter>& list) {
  expect("(");
  while (!take(")")) {
    expect(".param");
    // ".ptr .global .align 64" describes the memory that a pointer refers to.
    std::vector<Token> kept;
    std::size_t alignment = 1;
    bool is_pointer = false, has_alignment = false;
    Type type = Type::b8;
    while (peek().text.starts_with(".")) {
      const std::string word = next().text;
      if (word == ".ptr")
        is_pointer = true;
      else if (word == ".align") {
        const std::size_t value = number();
        if (!is_pointer) alignment = value, has_alignment = true;
      } else if (const auto named = type_named(word.substr(1)))
        type = *named;
      else if (!is_pointer)
        fail("expected a parameter's type");
    }
    if (!has_alignment) alignment = bytes_of(type);
    const Variable made = variable(type);
    const std::size_t offset = (function.parameter_bytes + alignment - 1) / alignment * alignment;
    function.parameter_bytes = offset + made.bytes;
    function.symbols[made.name] = {Space::param, offset, made.bytes, false};
    list.push_back({made.name, offset, made.bytes});
    take(",");
  }
}

void Parser::function(bool is_kernel) {
  auto made = std::make_unique<Function>();
  made->is_kernel = is_kernel;
  if (!is_kernel && peek().text == "(") parameters(*made, made->results);
  made->name = next().text;
  made->shown = plain_function_name(made->name);
  if (peek().text == "(") parameters(*made, made->parameters);
  for (;;) {
    const bool is_required = peek().text == ".reqntid";
    if (take(".reqntid") || take(".maxntid")) {
      std::array<unsigned, 3> threads{1, 1, 1};
      for (unsigned& extent : threads) {
        extent = static_cast<unsigned>(number());
        if (!take(",")) break;
      }
      (is_required ? made->required_threads : made->most_threads) = threads;
    } else if (take(".minnctapersm") || take(".maxnreg")) {
      number();
    } else if (!take(".noreturn")) {
      break;
    }
  }
  if (!take(";")) {
    expect("{");
    local_end_ = 0;
    body(*made);
    made->is_defined = true;
  }
  std::unique_ptr<Function>& known = program_.functions[made->name];
  if (known == nullptr || made->is_defined) known = std::move(made);
}

// ".file INDEX "PATH"" may stand behind the code that refers to it.
void Parser::source_files() {
  for (std::size_t at = 0; at + 2 < tokens_.size(); ++at) {
    if (tokens_[at].text != ".file" || tokens_[at + 1].kind != TokenKind::number) continue;
    const std::string& path = tokens_[at + 2].text;
    program_.files[static_cast<unsigned>(std::stoul(tokens_[at + 1].text))] = path.substr(path.rfind('/') + 1);
  }
}

Program Parser::module() {
  source_files();
  while (peek().kind != TokenKind::end) {
    if (take(".version")) {
      const std::string text = next().text;
      const std::size_t dot = text.find('.');
      program_.version = 10 * std::stoi(text) + (dot == std::string::npos ? 0 : std::stoi(text.substr(dot + 1)));
    } else if (take(".target")) {
      program_.target = next().text;
      while (take(",")) next();
    } else if (take(".address_size")) {
      if (number() != 64) fail("expected addresses of 64 bits");
    } else if (take(".visible") || take(".extern") || take(".weak") || take(".common")) {
      continue;
    } else if (take(".entry")) {
      function(true);
    } else if (take(".func")) {
      function(false);
    } else if (take(".file")) {
      for (const int line = peek().line; peek().kind != TokenKind::end && peek().line == line;) next();
    } else if (take(".section")) {
      // Debug information.
      next();
      expect("{");
      while (!take("}")) {
        if (peek().kind == TokenKind::end) fail("expected '}'");
        next();
      }
    } else if (peek().text == ".global" || peek().text == ".const" || peek().text == ".shared") {
      declare(space_named(next().text), nullptr);
      expect(";");
    } else {
      fail("expected a directive");
    }
  }
  expect_callees();
  return std::move(program_);
}

// Functions without a definition are those of the driver, such as vprintf.
void Parser::expect_callees() const {
  for (const auto& [name, function] : program_.functions) {
    for (const Instruction& one : function->code) {
      for (const Operand& operand : one.operands) {
        if (operand.kind != OperandKind::function || operand.name == kAssertion) continue;
        const auto callee = program_.functions.find(operand.name);
        if (callee == program_.functions.end() || !callee->second->is_defined)
          throw ParseError(program_.place_text(one.place) + ": the interpreter does not know the function '" +
                           operand.name + "'");
      }
    }
  }
}

std::string plain_name(const std::string& symbol) { return last_part(demangled(symbol)); }

std::string plain_function_name(const std::string& symbol) {
  const std::string whole = demangled(symbol);
  return last_part(whole.substr(0, whole.find('(')));
}

std::string Program::place_text(std::uint32_t place) const {
  const CodePlace& at = places.at(place);
  const auto file = files.find(at.file);
  if (at.source_line == 0 || file == files.end()) return "line " + std::to_string(at.line);
  return file->second + ":" + std::to_string(at.source_line);
}

Program parse(const std::string& text) {
  try {
    return Parser(text.c_str()).module();
  } catch (const std::logic_error& error) {
    // From numbers beyond their type, and operands that are not there.
    throw ParseError(std::string("expected PTX, got what cannot be read: ") + error.what());
  }
}

}  // namespace ferry::ptx
