#include "farm/config/config_changes.h"

#include "base/format.h"
#include "base/printable.h"

namespace ferry::farm {
namespace {

// Calls visit(key, before, after) for each key of either map whose values differ; null where a map lacks it.
template <class Value, class Visit>
void for_each_difference(const std::map<std::string, Value>& before, const std::map<std::string, Value>& after,
                         const Visit& visit) {
  for (const auto& [key, value] : before) {
    const auto found = after.find(key);
    if (found == after.end()) {
      visit(key, &value, static_cast<const Value*>(nullptr));
    } else if (!(found->second == value)) {
      visit(key, &value, &found->second);
    }
  }
  for (const auto& [key, value] : after)
    if (!before.contains(key)) visit(key, static_cast<const Value*>(nullptr), &value);
}

std::string tag_text(const std::string& name, const std::string& value) {
  return printable(value.empty() ? name : name + "=" + value);
}

std::string text_or_none(const std::string& text) { return text.empty() ? "none" : printable(text); }

long long minutes(std::chrono::milliseconds time) {
  return static_cast<long long>(std::chrono::duration_cast<std::chrono::minutes>(time).count());
}

long long seconds(std::chrono::milliseconds time) {
  return static_cast<long long>(std::chrono::duration_cast<std::chrono::seconds>(time).count());
}

class Sentences {
 public:
  explicit Sentences(std::vector<std::string>& sentences) : sentences_(sentences) {}

  void add(const std::string& sentence) { sentences_.push_back(sentence); }
  void change(const std::string& what, const std::string& before, const std::string& after) {
    if (before != after) add(what + " " + before + " -> " + after);
  }
  void change(const std::string& what, long long before, long long after) {
    change(what, std::to_string(before), std::to_string(after));
  }
  // Without the values.
  template <class T>
  void mention(const std::string& what, const T& before, const T& after) {
    if (!(before == after)) add(what + " changed");
  }

 private:
  std::vector<std::string>& sentences_;
};

void compare_boards(const std::string& name, const BoardConfig& before, const BoardConfig& after, Sentences& say) {
  const std::string board = "board " + name + ": ";
  for_each_difference(before.tags, after.tags, [&](const std::string& tag, const auto* old, const auto* now) {
    if (old != nullptr && now != nullptr) {
      say.add(board + "tag " + tag_text(tag, *old) + " -> " + tag_text(tag, *now));
    } else {
      say.add(board + "tag " + tag_text(tag, old != nullptr ? *old : *now) + (old != nullptr ? " removed" : " added"));
    }
  });
  say.change(board + "machine", text_or_none(before.machine), text_or_none(after.machine));
  if (before.shares_machine != after.shares_machine)
    say.add(board + (after.shares_machine ? "shares its machine" : "no longer shares its machine"));
  say.change(board + "address", text_or_none(before.address), text_or_none(after.address));
  say.mention(board + "power command", before.power, after.power);
}

std::string states_text(const std::set<BoardState>& states) {
  std::string text;
  for (const BoardState state : states) text += (text.empty() ? "" : ", ") + std::string(board_state_name(state));
  return text;
}

bool is_same(const std::optional<WebhookUrl>& a, const std::optional<WebhookUrl>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->server == b->server && a->path == b->path;
}

void compare_hooks(const FarmConfig& before, const FarmConfig& after, Sentences& say) {
  say.mention("notification command", before.notify.command, after.notify.command);
  if (!is_same(before.notify.webhook, after.notify.webhook)) say.add("webhook changed");
  say.change("notifications of states", states_text(before.notify_states), states_text(after.notify_states));
  say.change("seconds for a notification", seconds(before.notify.timeout), seconds(after.notify.timeout));
  say.mention("power command", before.power.command, after.power.command);
  say.change("seconds for a power command", seconds(before.power.timeout), seconds(after.power.timeout));
}

void compare_health(const FarmConfig& before, const FarmConfig& after, Sentences& say) {
  if (before.has_health_checks != after.has_health_checks)
    say.add(after.has_health_checks ? "health checks switched on" : "health checks switched off");
  say.change("idle minutes before a health check", minutes(before.health_idle), minutes(after.health_idle));
}

void compare_relays(const RelayLimits& before, const RelayLimits& after, Sentences& say) {
  const auto megabytes = [](std::uint64_t bytes) { return static_cast<long long>(bytes >> 20); };
  say.change("relays at a time", static_cast<long long>(before.relays), static_cast<long long>(after.relays));
  say.change("megabytes per second of a relay", megabytes(before.bytes_per_second), megabytes(after.bytes_per_second));
  say.change("megabytes per second of all relays", megabytes(before.all_bytes_per_second),
             megabytes(after.all_bytes_per_second));
  say.change("idle minutes of a relay", minutes(before.idle), minutes(after.idle));
}

}  // namespace

ConfigChanges diff(const FarmConfig& before, const FarmConfig& after) {
  ConfigChanges changes;
  Sentences say(changes.sentences);
  auto has_said = [&, count = std::size_t{0}]() mutable {
    const bool has_more = changes.sentences.size() > count;
    count = changes.sentences.size();
    return has_more;
  };
  compare_health(before, after, say);
  changes.has_health = has_said();
  compare_hooks(before, after, say);
  changes.has_hooks = has_said();
  compare_relays(before.relay, after.relay, say);
  changes.has_relay = has_said();
  say.change("megabytes of modules", static_cast<long long>(before.module_quota >> 20),
             static_cast<long long>(after.module_quota >> 20));
  changes.has_modules = has_said();
  for_each_difference(before.weights, after.weights, [&](const std::string& holder, const auto* old, const auto* now) {
    const double was = old != nullptr ? *old : 1, is = now != nullptr ? *now : 1;
    say.add("weight of " + printable(holder) + format(" %g -> %g", was, is));
    changes.holders.push_back(holder);
  });
  for_each_difference(before.boards, after.boards, [&](const std::string& name, const auto* old, const auto* now) {
    if (old == nullptr) say.add("board " + name + " added");
    if (now == nullptr) say.add("board " + name + " removed");
    if (now != nullptr) compare_boards(name, old != nullptr ? *old : BoardConfig(), *now, say);
    changes.boards.push_back(name);
  });
  return changes;
}

}  // namespace ferry::farm
