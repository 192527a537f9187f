// Bodies of functions: registers, labels, instructions and their operands (PTX ISA, "Instruction Set").
#include "crosscompile/ptx/opcode.h"
#include "crosscompile/ptx/parser.h"

namespace ferry::ptx {
namespace {

Execute decode(Opcode& opcode, Instruction& instruction) {
  constexpr bool (*kFamilies[])(Opcode&, Instruction&) = {
      decode_integer, decode_logic,  decode_compare, decode_float,   decode_approximate, decode_half,   decode_convert,
      decode_access,  decode_atomic, decode_warp,    decode_control, decode_shuffle,     decode_matrix, decode_async};
  for (const auto family : kFamilies) {
    if (!family(opcode, instruction)) continue;
    opcode.finish();
    return instruction.execute;
  }
  throw ParseError("the interpreter does not know the instruction '" + opcode.text() + "'");
}

}  // namespace

void Parser::registers(Function& function) {
  const std::string word = next().text;
  const auto type = type_named(word.substr(1));
  if (!type) fail("expected a register's type instead of '" + word + "'");
  do {
    const std::string name = next().text;
    Registers made{static_cast<std::uint32_t>(function.register_count), 0, static_cast<std::uint8_t>(bits_of(*type))};
    if (take("<")) {
      made.count = static_cast<std::uint32_t>(number());
      expect(">");
    }
    function.register_count += std::max<std::size_t>(made.count, 1);
    scopes_.back()[name] = made;
  } while (take(","));
  expect(";");
}

bool Parser::find_register(const std::string& name, Operand& into) const {
  for (std::size_t i = 0; i < kSpecialRegisters.size(); ++i) {
    if (name != kSpecialRegisters[i]) continue;
    into.reg = static_cast<std::uint32_t>(i);
    into.bits = 32;
    return true;
  }
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto one = scope->find(name); one != scope->end() && one->second.count == 0) {
      into.reg = one->second.first;
      into.bits = one->second.bits;
      return true;
    }
    const auto many = scope->find(name.substr(0, digits));
    if (many == scope->end() || digits == name.size()) continue;
    const auto number = static_cast<std::uint32_t>(std::stoul(name.substr(digits)));
    if (number >= many->second.count) continue;
    into.reg = many->second.first + number;
    into.bits = many->second.bits;
    return true;
  }
  return false;
}

void Parser::use_symbol(Function& function, const std::string& name, Operand& into) {
  const auto own = function.symbols.find(name);
  const auto found = own != function.symbols.end() ? own : program_.symbols.find(name);
  if (own == function.symbols.end() && found == program_.symbols.end())
    fail("expected a variable instead of '" + name + "'");
  const Symbol& symbol = found->second;
  into.space = symbol.space;
  into.value += symbol.offset + (symbol.space == Space::global ? kModuleMemory : 0);
  if (symbol.space != Space::shared) return;
  if (symbol.is_dynamic) {
    function.has_dynamic = true;
    function.dynamic_offset = symbol.offset;
    function.dynamic_name = plain_name(name);
    return;
  }
  for (const Array& one : function.shared)
    if (one.offset == symbol.offset) return;
  function.shared.push_back({symbol.offset, symbol.bytes, plain_name(name)});
}

Operand Parser::named(Function& function, const Token& token) {
  Operand made;
  made.name = token.text;
  if (token.text == "_") {
    made.kind = OperandKind::sink;
  } else if (find_register(token.text, made)) {
    made.kind = OperandKind::reg;
  } else if (token.text == "WARP_SZ") {
    made.kind = OperandKind::constant;
    made.value = 32;
  } else if (function.symbols.contains(token.text) || program_.symbols.contains(token.text)) {
    made.kind = OperandKind::constant;
    use_symbol(function, token.text, made);
  } else {
    made.kind = OperandKind::label;  // or the name of a function
  }
  return made;
}

Operand Parser::address(Function& function) {
  Operand made;
  made.kind = OperandKind::address;
  const Token token = peek();
  if (token.kind == TokenKind::number) {
    made.value = number();
  } else {
    next();
    made.name = token.text;
    if (find_register(token.text, made)) {
      made.has_register = true;
    } else {
      use_symbol(function, token.text, made);
    }
  }
  if (take("+")) made.value += number();
  expect("]");
  return made;
}

Operand Parser::operand(Function& function) {
  if (take("[")) return address(function);
  if (peek().text == "{" || peek().text == "(") {
    const std::string end = next().text == "{" ? "}" : ")";
    Operand made;
    made.kind = OperandKind::vector;
    while (!take(end)) {
      made.parts.push_back(operand(function));
      take(",");
    }
    return made;
  }
  const bool is_negated = take("!");
  if (peek().kind == TokenKind::number || peek().text == "-") {
    Operand made;
    made.kind = OperandKind::constant;
    made.value = number();
    return made;
  }
  Operand made = named(function, next());
  made.is_negated = is_negated;
  if (take("+")) made.value += number();
  if (!take("|")) return made;
  Operand pair;
  pair.kind = OperandKind::vector;
  pair.parts = {made, operand(function)};
  return pair;
}

// ".loc FILE LINE COLUMN", and for code of an inlined function where it was inlined.
void Parser::source_place() {
  const int line = next().line;
  const auto file = static_cast<unsigned>(number()), source_line = static_cast<unsigned>(number());
  // Code that belongs to no line follows that of one.
  if (source_line != 0) {
    source_file_ = file;
    source_line_ = source_line;
  }
  while (peek().kind != TokenKind::end && peek().line == line) next();
}

void Parser::instruction(Function& function) {
  Instruction made;
  made.line = peek().line;
  made.place = static_cast<std::uint32_t>(program_.places.size());
  program_.places.push_back({made.line, source_file_, source_line_});
  if (take("@")) {
    made.has_guard = true;
    made.guard = operand(function);
  }
  made.text = next().text;
  while (!take(";")) {
    made.operands.push_back(operand(function));
    if (!take(",") && peek().text != ";") fail("expected ',' or ';' in '" + made.text + "'");
  }
  add_instruction(function, std::move(made));
}

void Parser::add_instruction(Function& function, Instruction made) {
  Opcode opcode(made.text);
  try {
    decode(opcode, made);
  } catch (const ParseError& error) {
    const std::string place = program_.place_text(made.place);
    throw ParseError((place.starts_with("line ") ? "PTX " + place : place) + ": " + error.what());
  }
  function.code.push_back(std::move(made));
}

void Parser::statement(Function& function) {
  if (take(".reg")) return registers(function);
  if (take(".pragma")) {
    next();
    return expect(";");
  }
  if (peek().text == ".loc") return source_place();
  if (peek().text == ".param" || peek().text == ".shared" || peek().text == ".local" || peek().text == ".global") {
    declare(space_named(next().text), &function);
    return expect(";");
  }
  if (peek().kind == TokenKind::word && peek(1).text == ":") {
    const std::string name = next().text;
    next();
    if (take(".branchtargets")) {
      do targets_[name].push_back(next().text);
      while (take(","));
      return expect(";");
    }
    labels_[name] = function.code.size();
    return;
  }
  instruction(function);
}

void Parser::resolve_labels(Function& function) {
  const auto place = [&](const std::string& name, int line) {
    const auto found = labels_.find(name);
    if (found == labels_.end())
      throw ParseError("PTX line " + std::to_string(line) + ": nothing is called '" + name + "'");
    return found->second;
  };
  for (Instruction& one : function.code) {
    for (Operand& operand : one.operands) {
      if (operand.kind != OperandKind::label) continue;
      if (one.text.starts_with("call")) {
        operand.kind = OperandKind::function;
      } else if (const auto list = targets_.find(operand.name); list != targets_.end()) {
        operand.kind = OperandKind::vector;
        for (const std::string& name : list->second) {
          operand.parts.emplace_back();
          operand.parts.back().value = place(name, one.line);
        }
      } else {
        operand.value = place(operand.name, one.line);
      }
    }
  }
}

void Parser::body(Function& function) {
  function.register_count = kSpecialRegisters.size();
  source_file_ = source_line_ = 0;
  scopes_ = {{}};
  labels_.clear();
  targets_.clear();
  while (!scopes_.empty()) {
    if (peek().kind == TokenKind::end) fail("expected '}'");
    if (take("{")) {
      scopes_.emplace_back();
    } else if (take("}")) {
      scopes_.pop_back();
    } else {
      statement(function);
    }
  }
  Instruction last;
  last.text = "ret";
  add_instruction(function, last);
  resolve_labels(function);
}

}  // namespace ferry::ptx
