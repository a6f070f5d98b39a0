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
