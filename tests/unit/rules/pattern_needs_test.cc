// Necessary conditions for patterns to match.
#include "rules/pattern_needs.h"

#include <algorithm>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "byte_texts.h"
#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

Sets LastLine(std::string_view pattern) { return AllAscii(NeededInLastLine(pattern)); }
Sets FirstLine(std::string_view pattern) { return AllAscii(NeededInFirstLine(pattern)); }

TEST_CASE("a line needs the bytes that every alternative contains, up to a possible line break", "[rules]") {
  CHECK(LastLine("\\n[^\\n]*[\"'][^\"'\\n]*\\z") == Sets{"\"'"});
  CHECK(LastLine("\\n(?:a\\(|\\[b)\\z") == Sets{"(["});
  CHECK(LastLine("q\\s+#\\z") == Sets{"#"});
  CHECK(LastLine("q x\\z") == Sets{"Xx"});
  CHECK(LastLine("(?:<\\n)+;\\z") == Sets{";"});
  CHECK(FirstLine("\\A[^\\n]{0,200}?[`|](?:x|\\n)q") == Sets{"`|"});
  CHECK(FirstLine("\\A(?:#|\\+\\+)?!") == Sets{"!"});
}

TEST_CASE("nothing is needed if the pattern is not anchored at that end", "[rules]") {
  for (const char* pattern : {"[\"']", "a\\z|b\\z", "\\A[\"']"}) {
    CAPTURE(pattern);
    CHECK(NeededInLastLine(pattern).empty());
  }
  CHECK(FirstLine("[\"']\\z").empty());
  CHECK(FirstLine("").empty());
  CHECK(LastLine("\\x22\\z").empty());
}

// The needs of built-in quotations are checked before their patterns.
TEST_CASE("each example of a quotation satisfies the quotation's needs", "[rules]") {
  std::size_t tried = 0;
  for (const Quotation& quotation : BuiltInRules().quotations()) {
    if (quotation.source_line) continue;
    const std::vector<ByteSet> before = NeededInLastLine(quotation.pattern.source());
    const std::vector<ByteSet> from_header = NeededInFirstLine(quotation.after.source());
    for (const std::string& written : quotation.examples) {
      const std::string example = '\n' + written;
      const std::size_t head = std::min(example.find("<head>"), example.size());
      const std::string lead = example.substr(0, head);
      const std::string rest = head < example.size() ? example.substr(head + 6) : "";
      if (!quotation.Matches(lead, rest)) continue;
      ++tried;
      CAPTURE(quotation.id, example);
      const std::string_view last = std::string_view(lead).substr(lead.rfind('\n') + 1);
      const std::string_view first = std::string_view(rest).substr(0, rest.find('\n'));
      CHECK(HasByteOfEach(before, BytesIn(last)));
      CHECK(HasByteOfEach(from_header, BytesIn(first)));
    }
  }
  CHECK(tried > 50);
}

}  // namespace TEST_FILE
}  // namespace whyoom
