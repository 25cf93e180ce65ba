#include "rules/pattern.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

Pattern Compile(const std::string& source) {
  std::vector<SyntaxFault> faults;
  const Pattern pattern = Pattern::Compile(source, &faults);
  INFO(source);
  REQUIRE(faults.empty());
  return pattern;
}

std::string Show(const Value& value) {
  if (const std::string* text = AsText(value)) return "'" + *text + "'";
  return std::to_string(static_cast<long long>(AsNumber(value).value_or(-1)));
}

// "begin-end name=value@begin-end …", or "no".
std::string Find(const std::string& source, const std::string& text, std::size_t from = 0) {
  PatternMatch match;
  if (!Compile(source).Find(text, from, &match)) return "no";
  std::string shown = std::to_string(match.begin) + "-" + std::to_string(match.end);
  for (const Capture& capture : match.captures) {
    shown += " " + capture.name + "=" + Show(capture.value) + "@" + std::to_string(capture.begin) + "-" +
             std::to_string(capture.end);
  }
  return shown;
}

std::string Faults(const std::string& source) {
  std::vector<SyntaxFault> faults;
  const Pattern pattern = Pattern::Compile(source, &faults);
  PatternMatch match;
  if (!faults.empty()) CHECK_FALSE(pattern.Find("anything (b", 0, &match));
  std::string text;
  for (const SyntaxFault& fault : faults) {
    text += std::to_string(fault.at) + ": " + fault.what + (fault.hint.empty() ? "" : " (" + fault.hint + ")") + "\n";
  }
  return text;
}

TEST_CASE("a blank matches any white space", "[rules]") {
  CHECK(Find("out of memory", "x out  of\n\t memory") == "2-18");
  CHECK(Find("out   of", "out of") == "0-6");
  CHECK(Find("out of", "outof") == "no");
  CHECK(Find("a ?b", "ab") == "0-2");
  CHECK(Find("a *b", "a \n b") == "0-5");
  CHECK(Find("a {2}b", "a  b") == "0-4");
  CHECK(Find("a[ ]b", "a\nb") == "no");
  CHECK(Find("a[^] ]b", "a\nb") == "0-3");
  CHECK(Find("a[[:alpha:] ]b", "a b") == "0-3");
  CHECK(Find("a\\x20b", "a\nb") == "no");
  CHECK(Find("a\\x20b", "a b") == "0-3");
  CHECK(Find("a\\ b", "a\nb") == "no");
  CHECK(Find("\\Qa b.\\E c", "a b.\nc") == "0-6");
  CHECK(Find("\\Qa b.\\E c", "a\nb. c") == "no");
}

TEST_CASE("typed captures yield values", "[rules]") {
  CHECK(Find("Used %{size:used} of %{size:limit} hbm", "Used 22.89G\nof 15.75GiB hbm") ==
        "0-27 used=24577950351@5-11 limit=16911433728@15-23");
  CHECK(Find("%{size:a}", "0B") == "0-2 a=0@0-2");
  CHECK(Find("%{size:a}", "8 MiB") == "0-5 a=8388608@0-5");
  CHECK(Find("%{size:a}", "8\nMiB") == "0-5 a=8388608@0-5");
  // A size needs a unit: a figure without one may be the first half of a size that a line break split.
  CHECK(Find("%{size:a} frames", "8 Mainframes 9 frames") == "no");
  CHECK(Find("%{size:a},", "16777216, x") == "no");
  CHECK(Find("%{bytes:a},", "16777216, x") == "0-9 a=16777216@0-8");
  // No size is negative or beyond 64 bits; the text is kept, so that the report can state it.
  CHECK(Find("%{size:a} x", "-3.00G x") == "0-8 impossible_figure='-3.00G'@0-6");
  CHECK(Find("%{size:a} x", "999999999E x") == "0-12 impossible_figure='999999999E'@0-10");
  CHECK(Find("%{bytes:a}", "17179869184") == "0-11 a=17179869184@0-11");
  CHECK(Find("%{bytes:a}", "17,179,869,184, and") == "0-14 a=17179869184@0-14");
  CHECK(Find("ordinal %{integer:n}", "ordinal -3") == "0-10 n=-3@8-10");
  CHECK(Find("HLO module: %{name:m}", "HLO module: jit_fwd$1.<locals>, x") == "0-30 m='jit_fwd$1.<locals>'@12-30");
  CHECK(Find("\\(%{device:d}\\)", "free.; (0x1x0_HBM0)") == "7-19 d='0x1x0_HBM0'@8-18");
  CHECK(Find("%{word:w} b", "a,1 b") == "0-5 w='a,1'@0-3");
  CHECK(Find("'%{text:t}'", "'a b' 'c'") == "0-5 t='a b'@1-4");
  CHECK(Find("'%{text:t}'", "'a\nb'") == "no");
  CHECK(Find("'%{text:t}'", "'" + std::string(401, 'x') + "'") == "no");
}

TEST_CASE("other groups do not shift captures", "[rules]") {
  CHECK(Find("(a)(?:b)(?i:C)(\\()[(]%{integer:n}(?P<rest>.*)", "abc((7xyz") == "0-9 n=7@5-6 rest='xyz'@6-9");
  CHECK(Find("\\Q((\\E%{integer:n}", "((7") == "0-3 n=7@2-3");
  CHECK(Find("(?:a %{integer:n}|b %{integer:n})", "b 5") == "0-3 n=5@2-3");
  CHECK(Compile("(?:a %{integer:n}|b %{integer:n}) %{word:m}").capture_names() == std::vector<std::string>{"n", "m"});
}

TEST_CASE("a search starts at the given offset", "[rules]") {
  CHECK(Find("a\\d", "a1 a2 a3", 1) == "3-5");
  CHECK(Find("a\\d", "a1 a2 a3", 8) == "no");
  CHECK(Find("a\\d", "a1", 100) == "no");
  CHECK(Find("\\bb", "ab b", 1) == "3-4");
}

TEST_CASE("pattern faults have a location and a hint", "[rules]") {
  CHECK(Faults("") == "0: the pattern is empty (it would match everywhere)\n");
  CHECK(Faults("a %{sise:x}") == "4: unknown capture type 'sise' (did you mean 'size'?)\n");
  CHECK(Faults("a %{gigabytes:x}") ==
        "4: unknown capture type 'gigabytes' (types are size, bytes, integer, number, name, device, word, text)\n");
  CHECK(Faults("a %{size}") == "2: not a typed capture (write %{type:name}, or %\\{ for a literal %{)\n");
  CHECK(Faults("a %{size:x") == "2: not a typed capture (write %{type:name}, or %\\{ for a literal %{)\n");
  CHECK(Faults("ab [c") == "3: RE2 rejects the pattern: missing ]: [c\n");
  CHECK(Faults("ab (c") == "0: RE2 rejects the pattern: missing )\n");
  CHECK(Faults("ab\\y") == "2: RE2 rejects the pattern: invalid escape sequence: \\y\n");
  CHECK(Faults("(?<=a)b") == "0: RE2 rejects the pattern: invalid perl operator: (?<\n");
}

TEST_CASE("capture names are known in spite of faults", "[rules]") {
  std::vector<SyntaxFault> faults;
  const Pattern pattern = Pattern::Compile("(%{size:used} of %{sise:limit}", &faults);
  CHECK_FALSE(faults.empty());
  CHECK_FALSE(pattern.ok());
  CHECK(pattern.capture_names() == std::vector<std::string>{"used", "limit"});
}

std::string Literals(const std::string& source, std::size_t min_length) {
  std::string shown;
  for (const std::string& literal : Compile(source).Literals(min_length)) shown += "[" + literal + "]";
  return shown;
}

TEST_CASE("literals are required by every match", "[rules]") {
  CHECK(Literals("Ran out of memory in memory space (?:hbm|vmem)", 6) ==
        "[ran out of memory in memory space hbm][ran out of memory in memory space vmem]");
  CHECK(Literals("Ran out of memory in memory space", 6) == "[ran out of memory in memory space]");
  CHECK(Literals("(?i)Ran Out", 6) == "[ran out]");
  // The search ignores only ASCII case: it would not find "über" in "Über".
  CHECK(Literals("Über das Limit", 6) == "[ber das limit]");
  CHECK(Literals("Недостаточно памяти", 6).empty());
  CHECK(Literals("ОШИБКА: \\d+ pool exceeded", 6) == "[pool exceeded]");
  CHECK(Literals("ПАМЯТЬ", 6).empty());
  // Several are required: the longest suffices.
  CHECK(Literals("Used %{size:a} of %{size:b} hbm\\. Exceeded hbm capacity by %{size:c}", 6) ==
        "[hbm. exceeded hbm capacity by]");
  CHECK(Literals("longer literal\\d+literal", 6) == "[longer literal]");
  // One of several is required: all are returned.
  CHECK(Literals("alphabet|gammaray", 6) == "[alphabet][gammaray]");
  CHECK(Literals("(?:alphabet|gammaray)\\d+of things", 6) == "[of things]");
  CHECK(Literals("(?:alphabet|gammaray)\\d+things", 6) == "[alphabet][gammaray]");  // longer ones occur less often
  // One alternative has no literal.
  CHECK(Literals("alphabet|\\d+", 6).empty());
  CHECK(Literals("alphabet|abc", 6).empty());
  CHECK(Literals("alphabet|abc", 3) == "[abc][alphabet]");
  CHECK(Literals("(?:alphabet)?\\d", 6).empty());
  CHECK(Literals("\\d+", 2).empty());
  CHECK(Literals("short", 6).empty());
  CHECK(Literals("%{word:a} %{text:b}", 2).empty());
  CHECK(Literals("a{0,400}constant", 6) == "[constant]");
  CHECK(Literals("constant(?:alphabet){0,3}", 6) == "[constant]");
  CHECK(Pattern().Literals(1).empty());
}

TEST_CASE("each match contains one of the literals", "[rules]") {
  const struct {
    const char* pattern;
    std::vector<std::string> texts;
  } cases[] = {
      {"(?:one two|three four) (?:five six|seven)", {"one two five six", "three four seven", "one two seven"}},
      {"(?:abcdef)?(?:ghijkl|mnopqr)", {"ghijkl", "abcdefmnopqr", "mnopqr"}},
      {"(?:Used %{size:a}|%{size:a} in use) of memory", {"Used 5G of memory", "5G in use of memory"}},
      {"x(?:aaaaaa|bbbbbb|cccccc)+y", {"xaaaaaabbbbbby", "xccccccy"}},
      {"(?i)Out Of Memory.*(?:device|host)", {"OUT of MEMORY on device", "out of memory: HOST"}},
      {"Attempting to (?:allocate|reserve) %{size:n}", {"Attempting to allocate 5G", "Attempting to reserve 1.5M"}},
  };
  for (const auto& c : cases) {
    const Pattern pattern = Compile(c.pattern);
    const std::vector<std::string> literals = pattern.Literals(3);
    INFO(c.pattern);
    CHECK_FALSE(literals.empty());
    for (std::string text : c.texts) {
      INFO(text);
      PatternMatch match;
      CHECK(pattern.Find(text, 0, &match));
      std::transform(text.begin(), text.end(), text.begin(),
                     [](unsigned char b) { return static_cast<char>(std::tolower(b)); });
      CHECK(std::any_of(literals.begin(), literals.end(),
                        [&](const std::string& literal) { return text.find(literal) != std::string::npos; }));
    }
  }
}

}  // namespace TEST_FILE
}  // namespace whyoom
