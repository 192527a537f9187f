#include "host/text/html.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry::html;

namespace {

std::string content_of(Html& html) {
  const std::string text = html.take();
  return text.substr(text.find('\n') + 1);
}

}  // namespace

TEST_CASE("elements end in the opposite order and texts and attributes are escaped") {
  Html html;
  {
    const auto outer = html.open("div", {{"class", "a\"b'<"}, {"hidden", ""}});
    html.element("p", "1 < 2 && \"x\" > 'y'");
    html.single("input", {{"value", "</div>"}});
  }
  CHECK(content_of(html) ==
        "<div class=\"a&quot;b&#39;&lt;\" hidden><p>1 &lt; 2 &amp;&amp; &quot;x&quot; &gt; &#39;y&#39;</p>\n"
        "<input value=\"&lt;/div&gt;\"></div>\n");
}

TEST_CASE("texts show characters that control terminals or reverse text") {
  Html html;
  html.text("a\x1b[1mb\ncode\u202e\xff");
  html.lines("one\ntwo\x07");
  CHECK(content_of(html) == "a\\x1b[1mb\\ncode\\xe2\\x80\\xae\\xffone\ntwo\\x07");
}
