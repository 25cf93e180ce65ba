// Necessary conditions for patterns to match.
#include "rules/pattern_needs.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "byte_texts.h"
#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

Sets LastLine(std::string_view pattern) { return AllAscii(NeedsAtEnd(pattern).line); }
Sets FirstLine(std::string_view pattern) { return AllAscii(NeedsAtBegin(pattern).line); }

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
    const TextNeeds needs = NeedsAtEnd(pattern);
    CHECK((needs.leading.empty() && needs.line.empty() && needs.text.empty() && needs.words.empty()));
  }
  CHECK(FirstLine("[\"']\\z").empty());
  CHECK(FirstLine("").empty());
  CHECK(LastLine("\\x22\\z").empty());
}

TEST_CASE("a match needs the bytes of all its lines", "[rules]") {
  CHECK(AllAscii(NeededBytes("a[^b]*#(?:\\n|;)")) == Sets{"#", ";", "Aa"});
  CHECK(AllAscii(NeedsAtEnd("\"\\n[^\\n]*\\z").text) == Sets{"", "\""});
  CHECK(NeededBytes("x?|y").empty());
}

TEST_CASE("words are needed only in the line at the anchored end", "[rules]") {
  using Words = std::vector<std::string>;
  CHECK(NeedsAtEnd("above\\n[^\\n]*(?:Grep|sed)[ ][^\\n]*\\z").words == Words{"grep", "sed"});
  CHECK(NeedsAtEnd("above\\s*\\z").words.empty());
  CHECK(NeedsAtBegin("\\A[^\\n]*\\bNOTE\\b\\nbelow").words == Words{"note"});
}

TEST_CASE("the first bytes of the last line are known if the pattern contains its start", "[rules]") {
  const auto leading = [](std::string_view pattern) {
    const std::vector<ByteSet> sets = NeedsAtEnd(pattern).leading;
    return sets.empty() ? "none" : AsciiOf(sets.front());
  };
  CHECK(leading("\\n#[ ][^\\n]*\\z") == "#");
  CHECK(leading("\\n\\s*[*#][^\\n]*\\z") == " #*");
  CHECK(leading("\\n+[*#][^\\n]*\\z") == "none");
  // After a line break within the blanks, the "x" is in an earlier line.
  CHECK(leading("\\nx\\s*[*#][^\\n]*\\z") == "none");
  CHECK(leading("[^\\n]*#\\z") == "none");
  CHECK(leading("\\\\n#[^\\n]*\\z") == "none");  // a backslash and an n
  CHECK(AsciiOf(NeedsAtBegin("\\A[+-]?x").leading.front()) == "+-Xx");
}

// The needs of built-in quotations are checked before their patterns.
TEST_CASE("each example of a quotation satisfies the quotation's needs", "[rules]") {
  std::size_t tried = 0;
  for (const Quotation& quotation : BuiltInRules().quotations()) {
    if (quotation.source_line) continue;
    const TextNeeds before = NeedsAtEnd(quotation.pattern.source());
    const TextNeeds from_header = NeedsAtBegin(quotation.after.source());
    for (const std::string& written : quotation.examples) {
      const std::string example = '\n' + written;
      const std::size_t head = std::min(example.find("<head>"), example.size());
      const std::string lead = example.substr(0, head);
      const std::string rest = head < example.size() ? example.substr(head + 6) : "";
      if (!quotation.Matches(lead, rest)) continue;
      ++tried;
      const auto has_word = [](const std::vector<std::string>& words, std::string_view line) {
        std::string lower(line);
        std::transform(lower.begin(), lower.end(), lower.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return words.empty() || std::any_of(words.begin(), words.end(), [&](const std::string& word) {
                 return lower.find(word) != std::string::npos;
               });
      };
      CAPTURE(quotation.id, example);
      const std::string_view last = std::string_view(lead).substr(lead.rfind('\n') + 1);
      const std::string_view first = std::string_view(rest).substr(0, rest.find('\n'));
      CHECK(PreparedText(lead, last).MayMatch(before));
      CHECK(PreparedText(rest, first).MayMatch(from_header));
      CHECK(has_word(before.words, last));
      CHECK(has_word(from_header.words, first));
    }
  }
  CHECK(tried > 50);
}

}  // namespace TEST_FILE
}  // namespace whyoom
