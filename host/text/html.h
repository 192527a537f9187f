// Writes HTML and SVG that are well-formed and in which nothing from elsewhere becomes markup: names of elements and
// attributes can only be literals, and all texts are escaped.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::html {

// Name of an element or attribute. Only a constant expression converts to one.
class MarkupName {
 public:
  consteval MarkupName(const char* name) : text_(name) {
    if (*name == 0) throw "expected a name, got an empty text";
    for (const char* c = name; *c != 0; ++c) {
      const bool is_valid =
          (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '-';
      if (!is_valid) throw "expected letters, digits and hyphens";
    }
  }
  const char* text() const { return text_; }

 private:
  const char* text_;
};

struct Attribute {
  MarkupName name;
  std::string value;
};
using Attributes = std::initializer_list<Attribute>;

class Html {
 public:
  // An open element, which ends with this object.
  class [[nodiscard]] Scope {
   public:
    explicit Scope(Html& html) : html_(html) {}
    ~Scope() { html_.close(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Html& html_;
  };

  Scope open(MarkupName tag, Attributes attributes = {});
  Scope open(MarkupName tag, const std::vector<Attribute>& attributes);
  // An element that contains only text.
  void element(MarkupName tag, std::string_view text, Attributes attributes = {});
  // An element without end tag, such as input.
  void single(MarkupName tag, Attributes attributes);
  void single(MarkupName tag, const std::vector<Attribute>& attributes);
  // Characters that control terminals or change the direction of text become visible escapes (base/printable.h).
  void text(std::string_view text);
  // Likewise, but line feeds and tabs stay.
  void lines(std::string_view text);

  // Returns the text, after the end of all elements.
  std::string take() { return std::move(out_); }

 private:
  void start(const char* tag, const Attribute* attributes, std::size_t count);
  void close();
  void escape(std::string_view text);

  std::string out_ = "<!doctype html>\n";
  std::vector<const char*> open_;
};

}  // namespace ferry::html
