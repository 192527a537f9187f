#include "host/gate/api/verdict.h"

#include <algorithm>

namespace ferry::gate {

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::unchanged: return "unchanged";
    case Verdict::first: return "first";
    case Verdict::no_change: return "no_change";
    case Verdict::faster: return "faster";
    case Verdict::slower: return "slower";
    case Verdict::cannot_tell: return "cannot_tell";
    case Verdict::wrong: return "wrong";
    case Verdict::over_limit: return "over_limit";
    case Verdict::failed: return "failed";
    case Verdict::infrastructure: return "infrastructure";
    case Verdict::interrupted: return "interrupted";
  }
  return "";
}

std::string to_text(Verdict verdict) {
  std::string text = name_of(verdict);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

}  // namespace ferry::gate
