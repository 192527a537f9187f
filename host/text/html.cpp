#include "host/text/html.h"

#include "base/printable.h"

namespace ferry::html {

void Html::escape(std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&': out_ += "&amp;"; break;
      case '<': out_ += "&lt;"; break;
      case '>': out_ += "&gt;"; break;
      case '"': out_ += "&quot;"; break;
      case '\'': out_ += "&#39;"; break;
      default: out_ += c;
    }
  }
}

void Html::start(const char* tag, const Attribute* attributes, std::size_t count) {
  out_ += '<';
  out_ += tag;
  for (const Attribute* a = attributes; a != attributes + count; ++a) {
    out_ += ' ';
    out_ += a->name.text();
    if (a->value.empty()) continue;
    out_ += "=\"";
    escape(printable(a->value));
    out_ += '"';
  }
  out_ += '>';
}

Html::Scope Html::open(MarkupName tag, Attributes attributes) {
  start(tag.text(), attributes.begin(), attributes.size());
  open_.push_back(tag.text());
  return Scope(*this);
}

Html::Scope Html::open(MarkupName tag, const std::vector<Attribute>& attributes) {
  start(tag.text(), attributes.data(), attributes.size());
  open_.push_back(tag.text());
  return Scope(*this);
}

void Html::close() {
  const std::string_view tag = open_.back();
  open_.pop_back();
  out_ += "</" + std::string(tag) + ">";
  // A line feed would be a space after these.
  if (tag != "a" && tag != "span" && tag != "time") out_ += '\n';
}

void Html::element(MarkupName tag, std::string_view text, Attributes attributes) {
  const auto scope = open(tag, attributes);
  this->text(text);
}

void Html::single(MarkupName tag, Attributes attributes) { start(tag.text(), attributes.begin(), attributes.size()); }

void Html::single(MarkupName tag, const std::vector<Attribute>& attributes) {
  start(tag.text(), attributes.data(), attributes.size());
}

void Html::text(std::string_view text) { escape(printable(text)); }

void Html::lines(std::string_view text) { escape(printable_lines(text)); }

}  // namespace ferry::html
