// Notes below a table, which its rows refer to by number.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ferry::text {

// Texts that differ in their numbers alone share a note: "96 of 100 samples hit by context switches" stands for all
// such rows.
class Footnotes {
 public:
  // Returns the numbers of the texts' notes in ascending order, "1 3"; empty if there are none.
  std::string marks(const std::vector<std::string>& texts);

  // Returns a line for each note: "1  96 of 100 samples hit by context switches (in other rows with other numbers)".
  std::vector<std::string> lines() const;

 private:
  struct Note {
    std::string text;
    bool varies = false;
  };
  std::map<std::string, std::size_t> known_;  // texts without their numbers
  std::vector<Note> notes_;
};

}  // namespace ferry::text
