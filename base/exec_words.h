// The words of a program as exec takes them.
#pragma once

#include <string>
#include <vector>

namespace ferry {

// Returns pointers to the texts, which must outlive them, and a null pointer.
inline std::vector<char*> exec_words(const std::vector<std::string>& texts) {
  std::vector<char*> words;
  for (const std::string& text : texts) words.push_back(const_cast<char*>(text.c_str()));
  words.push_back(nullptr);
  return words;
}

}  // namespace ferry
