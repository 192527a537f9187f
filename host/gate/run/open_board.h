// A board on which the cases of a run open their sessions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ferry/device_facts.h"
#include "ferry/error.h"
#include "ferry/kernel/open_session.h"
#include "host/gate/api/report.h"

namespace ferry::gate {

struct BoardFacts {
  DeviceFacts facts;
  Environment environment;  // without the governor, which only a measurement tells
};

// The board can be had in no way as it is asked for, whatever the case: its address is mistaken, the key is not for it,
// or the farm has no such board. Trying again does not help.
class BoardRefused : public Error {
 public:
  explicit BoardRefused(const std::string& message) : Error(ErrorCode::unavailable, message) {}
};

// Remembers what the board has said about itself, so that no session is opened for this alone.
class OpenBoard {
 public:
  // `is_here`: it is this machine.
  explicit OpenBoard(OpenSession open, bool is_here = false);
  OpenBoard(const OpenBoard&) = delete;
  OpenBoard& operator=(const OpenBoard&) = delete;

  // Opens sessions. Throws BoardRefused, and Error (unavailable) if another machine than before answers.
  const OpenSession& sessions() const { return sessions_; }
  // Returns what the board says to sessions with these devices besides the CPU.
  const BoardFacts& facts(const std::vector<std::string>& devices);
  bool is_here() const { return is_here_; }

 private:
  bool is_here_;
  OpenSession sessions_;
  std::map<std::vector<std::string>, BoardFacts> known_;  // by devices
};

}  // namespace ferry::gate
