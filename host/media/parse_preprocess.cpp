#include <charconv>
#include <sstream>

#include "ferry/kernel/option_error.h"
#include "host/media/preprocess.h"

namespace ferry::media {

namespace {

constexpr const char* kExpected =
    "imagenet, clip, unit, symmetric or raw, and fit=crop, stretch, letterbox or none, mean=R/G/B, std=R/G/B, "
    "channels=rgb or bgr, rate=HZ, with commas between them";

// The figures of torchvision's weights for ImageNet, and of OpenAI's for CLIP.
constexpr std::array<double, 3> kImagenetMean = {0.485, 0.456, 0.406}, kImagenetDeviation = {0.229, 0.224, 0.225},
                                kClipMean = {0.48145466, 0.4578275, 0.40821073},
                                kClipDeviation = {0.26862954, 0.26130258, 0.27577711};

template <class T>
std::optional<T> number(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// Parses "0.5" or "0.4/0.5/0.6".
std::optional<std::array<double, 3>> three_numbers(const std::string& text) {
  std::array<double, 3> numbers{};
  std::istringstream parts(text);
  std::size_t count = 0;
  for (std::string part; std::getline(parts, part, '/'); ++count) {
    const std::optional<double> value = number<double>(part);
    if (!value || count == numbers.size()) return std::nullopt;
    numbers[count] = *value;
  }
  if (count == 1) numbers = {numbers[0], numbers[0], numbers[0]};
  return count == 1 || count == numbers.size() ? std::optional(numbers) : std::nullopt;
}

bool apply_preset(const std::string& word, Preprocess& to) {
  if (word == "imagenet" || word == "clip") {
    const bool is_clip = word == "clip";
    to.is_raw = false;
    to.mean = is_clip ? kClipMean : kImagenetMean;
    to.deviation = is_clip ? kClipDeviation : kImagenetDeviation;
    if (!is_clip) to.margin = 256.0 / 224.0;
    return true;
  }
  if (word == "symmetric") to.mean = to.deviation = {0.5, 0.5, 0.5};
  if (word != "unit" && word != "symmetric" && word != "raw") return false;
  to.is_raw = word == "raw";
  return true;
}

bool apply_term(const std::string& name, const std::string& value, Preprocess& to) {
  if (name == "fit") {
    constexpr std::pair<const char*, Fit> kFits[] = {
        {"crop", Fit::crop}, {"stretch", Fit::stretch}, {"letterbox", Fit::letterbox}, {"none", Fit::none}};
    for (const auto& [word, fit] : kFits) {
      if (value != word) continue;
      to.fit = fit;
      to.margin = 1;
      return true;
    }
    return false;
  }
  if (name == "channels") {
    to.is_bgr = value == "bgr";
    return value == "bgr" || value == "rgb";
  }
  if (name == "rate") {
    constexpr std::int64_t kMost = 1 << 20;
    const std::optional<std::int64_t> rate = number<std::int64_t>(value);
    to.rate = rate.value_or(0);
    return rate && *rate >= 1 && *rate <= kMost;
  }
  const std::optional<std::array<double, 3>> numbers = three_numbers(value);
  if (!numbers || (name != "mean" && name != "std")) return false;
  for (const double one : *numbers)
    if (name == "std" && !(one > 0)) return false;
  (name == "mean" ? to.mean : to.deviation) = *numbers;
  return true;
}

}  // namespace

Preprocess parse_preprocess(const std::string& text) {
  Preprocess preprocess;
  std::istringstream terms(text);
  bool is_first = true;
  for (std::string term; std::getline(terms, term, ','); is_first = false) {
    const std::size_t equals = term.find('=');
    const bool is_known = equals == std::string::npos
                              ? is_first && apply_preset(term, preprocess)
                              : apply_term(term.substr(0, equals), term.substr(equals + 1), preprocess);
    if (!is_known) throw OptionError(Option::preprocess, text + ": expected " + kExpected + ", got '" + term + "'");
  }
  return preprocess;
}

}  // namespace ferry::media
