// The words of an instruction's name. A decoder takes those it knows; an instruction with words left over is refused.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "crosscompile/ptx/program.h"

namespace ferry::ptx {

class Opcode {
 public:
  explicit Opcode(const std::string& text) : text_(text) {
    for (std::size_t begin = 0; begin <= text.size();) {
      std::size_t end = text.find('.', begin);
      if (end == std::string::npos) end = text.size();
      words_.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    name_ = words_.front();
    words_.erase(words_.begin());
  }

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  bool is(std::initializer_list<const char*> names) const {
    return std::any_of(names.begin(), names.end(), [&](const char* one) { return name_ == one; });
  }
  bool take(const std::string& word) {
    const auto found = std::find(words_.begin(), words_.end(), word);
    if (found == words_.end()) return false;
    words_.erase(found);
    return true;
  }
  // Takes the next word that is a type.
  Type take_type() {
    for (auto word = words_.begin(); word != words_.end(); ++word) {
      if (const auto type = type_named(*word)) {
        words_.erase(word);
        return *type;
      }
    }
    throw ParseError("expected a type in '" + text_ + "'");
  }
  void finish() const {
    if (!words_.empty()) throw ParseError("'" + text_ + "': the interpreter does not know '." + words_.front() + "'");
  }

 private:
  std::string text_, name_;
  std::vector<std::string> words_;
};

// Takes the state space of an address; generic if there is none.
Space take_space(Opcode& opcode);

// Each function decodes the instructions of its family and returns whether this was one.
bool decode_integer(Opcode& opcode, Instruction& instruction);
bool decode_logic(Opcode& opcode, Instruction& instruction);
bool decode_compare(Opcode& opcode, Instruction& instruction);
bool decode_float(Opcode& opcode, Instruction& instruction);
bool decode_approximate(Opcode& opcode, Instruction& instruction);
bool decode_half(Opcode& opcode, Instruction& instruction);
bool decode_convert(Opcode& opcode, Instruction& instruction);
bool decode_access(Opcode& opcode, Instruction& instruction);
bool decode_atomic(Opcode& opcode, Instruction& instruction);
bool decode_control(Opcode& opcode, Instruction& instruction);
bool decode_warp(Opcode& opcode, Instruction& instruction);
bool decode_shuffle(Opcode& opcode, Instruction& instruction);
bool decode_matrix(Opcode& opcode, Instruction& instruction);
bool decode_async(Opcode& opcode, Instruction& instruction);

}  // namespace ferry::ptx
