#include "rules/pattern_reach.h"

#include <string>
#include <vector>

#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

// Returns "matched text|rest of the pattern". "…" means that the rest may match anywhere later. If a suffix of the
// pattern matches later, "|" and the text from there on follow.
std::string Reach(const std::string& source, const std::string& text) {
  std::vector<SyntaxFault> faults;
  const Pattern pattern = Pattern::Compile(source, &faults);
  REQUIRE(faults.empty());
  const std::optional<PartialPatternMatch> reach = FindPartialMatch(pattern, text);
  if (!reach) return "none";
  return text.substr(reach->begin, reach->end - reach->begin) + (reach->anywhere ? "|…" : "|") + reach->wanted +
         (reach->suffix_at ? "|" + text.substr(*reach->suffix_at) : "");
}

struct Case {
  const char* pattern;
  const char* text;
  const char* reach;
};

TEST_CASE("the longest prefix of a pattern in the text is found", "[rules]") {
  for (const Case& c : std::vector<Case>{
           {"pool is full", "E: pool is full", "pool is full|"},
           {"pool is full", "E: pool is fuIl", "pool is fu|ll"},
           {"pool is full", "E: Pool is full", "none"},
           {"(?i)pool is full|heap is gone", "HEAP IS GOOD", "HEAP IS GO|ne"},
           {"Used %{size:a} of %{size:b} hbm", "Used 2.00G of many hbm", "Used 2.00G of |%{size:b} hbm"},
           {"Used %{size:a} of %{size:b} hbm", "Used 2.00 of 3G hbm", "Used |%{size:a} of %{size:b} hbm| of 3G hbm"},
           {"load of (?:program|module) failed", "load of modules failed", "load of module| failed| failed"},
           {"load of (?:program|module) failed", "load of modele failed", "load of mod|ule"},
           {"program '%{text:p}' is lost", "program 'a is gone", "program '|…%{text:p}' is lost"},
           {"a\\.b [x\\]]+\\bend", "a.b x]x and", "a.b x]x|end"},
           {"\\Qa(b\\E then", "a(b than", "a(b th|en"},
           {"grün: voll", "grün: leer", "grün: |voll"},
       }) {
    INFO(c.pattern << " in " << c.text);
    CHECK(Reach(c.pattern, c.text) == c.reach);
  }
}

TEST_CASE("a wrong character is located by the matching text before and after it", "[rules]") {
  const std::string pattern = "Ran out of memory in memory space hbm\\. Used %{size:used} of %{size:limit} hbm";
  CHECK(Reach(pattern, "E Ran out of memory in memory spase hbm. Used 2G of 1G hbm.") ==
        "Ran out of memory in memory spa|ce hbm\\. Used %{size:used} of %{size:limit} hbm|e hbm. Used 2G of 1G hbm.");
}

TEST_CASE("a pattern that did not compile matches no prefix", "[rules]") {
  std::vector<SyntaxFault> faults;
  CHECK_FALSE(FindPartialMatch(Pattern::Compile("a(", &faults), "a(").has_value());
  CHECK_FALSE(FindPartialMatch(Pattern(), "a").has_value());
}

}  // namespace TEST_FILE
}  // namespace whyoom
