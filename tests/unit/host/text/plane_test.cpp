#include "host/text/plane.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry::chart;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a plane has both axes with titles and labels, and says where their values are") {
  ferry::html::Html html;
  const Plane plane = write_plane(html, 300, {1, 100, 0, 0, Scale::logarithmic}, {"bytes", count_labels}, {0, 6e-3},
                                  {"seconds", time_labels});
  CHECK(plane.x.place(1) == kLeft);
  CHECK(plane.x.place(100) == kWidth - kRight);
  CHECK(plane.x.place(10) == doctest::Approx((kLeft + kWidth - kRight) / 2));
  CHECK(plane.y.place(0) > plane.y.place(6e-3));
  CHECK(plane.y.place(6e-3) >= kTop);
  CHECK(plane.y.place(0) <= 300 - kBottom);
  const std::string text = html.take();
  for (const char* part : {">bytes<", ">seconds<", ">10<", ">50<", ">3 ms<"}) CHECK(has(text, part));
  // A tick of each axis is a line over the whole plane.
  CHECK(has(text, "x1=\"" + coordinate(plane.x.place(10)) + "\" y1=\"" + coordinate(plane.y.to) + "\" x2=\"" +
                      coordinate(plane.x.place(10)) + "\" y2=\"" + coordinate(plane.y.from) + "\""));
  CHECK(has(text, "y1=\"" + coordinate(plane.y.place(3e-3)) + "\" x2=\"" + coordinate(kWidth - kRight) + "\""));
}

TEST_CASE("a plane begins further to the right for long labels") {
  ferry::html::Html html;
  const Plane plane = write_plane(html, 300, {0, 1}, {"", count_labels}, {1'227'200, 1'227'200.6}, {"", count_labels});
  CHECK(plane.x.place(0) >= 110);
}
