// A parser of PTX. parser.cpp handles the module's directives, statements.cpp the bodies of functions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "crosscompile/ptx/lexer.h"
#include "crosscompile/ptx/program.h"

namespace ferry::ptx {

Space space_named(const std::string& word);  // ".shared"
// Returns the last part of a C++ symbol's name: "tile" for _ZZ7productPfE4tile.
std::string plain_name(const std::string& symbol);
// The same for a function: "blur" for _ZN7filters4blurEPf.
std::string plain_function_name(const std::string& symbol);

class Parser {
 public:
  explicit Parser(const std::string& text);
  Program module();

 private:
  struct Variable {
    std::string name;
    std::size_t bytes = 0;
    bool is_dynamic = false;
    std::vector<std::uint8_t> content;
  };
  struct Registers {
    std::uint32_t first = 0, count = 0;  // a count of 0 means a single register without a number in its name
    std::uint8_t bits = 64;
  };

  [[noreturn]] void fail(const std::string& what) const;
  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  Token next();
  bool take(const std::string& text);
  void expect(const std::string& text);
  Word number();
  Variable variable(Type type);
  void declare(Space space, Function* function);
  void parameters(Function& function, std::vector<Parameter>& list);
  void function(bool is_kernel);

  void body(Function& function);
  void statement(Function& function);
  void registers(Function& function);
  void instruction(Function& function);
  void add_instruction(Function& function, Instruction made);
  void source_place();
  void source_files();
  void expect_callees() const;
  Operand operand(Function& function);
  Operand address(Function& function);
  Operand named(Function& function, const Token& token);
  bool find_register(const std::string& name, Operand& into) const;
  void use_symbol(Function& function, const std::string& name, Operand& into);
  void resolve_labels(Function& function);

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Program program_;
  Word shared_end_ = 0, local_end_ = 0;
  std::string last_parameter_;
  unsigned source_file_ = 0, source_line_ = 0;  // where the next instructions come from
  std::vector<std::map<std::string, Registers>> scopes_;
  std::map<std::string, std::size_t> labels_;
  std::map<std::string, std::vector<std::string>> targets_;  // labels of each .branchtargets list
};

}  // namespace ferry::ptx
