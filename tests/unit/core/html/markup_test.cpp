#include "core/html/markup.h"

#include <gmock/gmock.h>

namespace gpuward::html {
namespace {

TEST(Markup, EscapesWhatIsText) {
  EXPECT_EQ(element("p", {"a<script>alert('1')</script> & \"b\""}).html(),
            "<p>a&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;b&quot;</p>");
}

TEST(Markup, EscapesTheValuesOfAttributes) {
  EXPECT_EQ(link("nodes/\"><script>", "x").html(),
            "<a href=\"nodes/&quot;&gt;&lt;script&gt;\">x</a>");
}

TEST(Markup, ShowsWhatReordersOrHidesText) {
  EXPECT_EQ(element("p", {"NVRM: \u202egnihton\u202c"}).html(),
            "<p>NVRM: \\u202egnihton\\u202c</p>");
  EXPECT_EQ(link("nodes/a\u2066", "a\n\u2066b\033").html(),
            "<a href=\"nodes/a\\u2066\">a\n\\u2066b\\u001b</a>");
  EXPECT_EQ(element("p", {"\u05e9\u05dc\u05d5\u05dd"}).html(), "<p>\u05e9\u05dc\u05d5\u05dd</p>");
}

TEST(Markup, NestsElementsUnescaped) {
  const Markup cell = element("td", {{"class", "number"}}, {"1 < 2"});
  EXPECT_EQ(element("tr", {cell, cell}).html(),
            "<tr><td class=\"number\">1 &lt; 2</td><td class=\"number\">1 &lt; 2</td></tr>");
}

TEST(Markup, OfTheBuildIsTakenAsItIs) {
  EXPECT_EQ(element("li", {Markup::trusted("<br>")}).html(), "<li><br></li>");
}

}  // namespace
}  // namespace gpuward::html
