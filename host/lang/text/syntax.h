// The syntax tree: the text as written, before names are resolved. Views borrow the text; offsets are into it.
#pragma once

#include "ferry/types.h"
#include "host/lang/text/lexer.h"

#include <optional>
#include <string_view>
#include <vector>

namespace ferry::lang {

struct Syntax {
  enum class Kind : std::uint8_t { number, name, call, unary, binary, choice };

  Kind kind = Kind::number;
  std::size_t offset = 0;          // start of the name, number or operator
  std::size_t begin = 0, end = 0;  // extent of the whole expression, without surrounding parentheses
  std::uint32_t depth = 1;         // height of this tree
  Token token;                     // the number
  std::string_view text;           // the name, or the operator
  std::vector<Syntax> parts;       // arguments, operands, or condition and both values
};

struct Name {
  std::string_view text;
  std::size_t offset = 0;
};

struct RangeSyntax {
  Name index;
  Syntax begin, end;
};

enum class Assign : std::uint8_t { set, sum, prod, min, max, any, all, argmax, argmin };

// Whether the reduction yields positions instead of values.
inline bool finds_place(Assign assign) { return assign == Assign::argmax || assign == Assign::argmin; }

struct StatementSyntax {
  Name target;                       // argmax and argmin: the positions
  std::optional<Name> value_target;  // argmax and argmin: the values, if they are wanted
  std::vector<Syntax> left;          // the indices of the target
  std::vector<Name> indices;         // the same where all of them are plain names, else none
  std::optional<Name> along;         // the index along which the statement runs in sequence
  Assign assign = Assign::set;
  bool initialise = false;  // the "!" forms
  std::size_t assign_offset = 0;
  Syntax value;
  std::vector<RangeSyntax> ranges;
};

struct RequireSyntax {
  std::size_t offset = 0;
  Syntax condition;
  std::string_view message;  // empty: none
  std::string_view text;     // the condition as written
};

struct ParameterSyntax {
  std::optional<std::size_t> constant_offset;  // offset of 'const'
  DType dtype = DType::f32;
  std::optional<std::vector<Syntax>> shape;  // nothing: a scalar
  Name name;
  std::size_t strides_offset = 0;
  std::vector<Syntax> strides;  // none: dense
};

struct DefSyntax {
  Name name;
  std::vector<ParameterSyntax> parameters;
  std::vector<Name> outputs;
  std::vector<StatementSyntax> statements;
  std::vector<RequireSyntax> requirements;
};

}  // namespace ferry::lang
