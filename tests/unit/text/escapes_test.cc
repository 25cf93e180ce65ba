// Lines that Python's repr or JSON escaped are split at their breaks.
#include <string>
#include <vector>

#include "catch.h"
#include "text/cleaning.h"

using namespace whyoom;

namespace TEST_FILE {

// Length and meaning of an escape: "3 é".
std::string Meaning(const std::string& text, std::size_t at = 0) {
  std::string out;
  const std::size_t length = Unescape(text, at, &out);
  return std::to_string(length) + " " + out;
}

// The parts with their raw offsets: "one@0|two@5"; "uncut" if there is nothing to split.
std::string Cut(const std::string& text) {
  std::vector<MappedText> parts;
  if (!SplitAtEscapedBreaks(MapRaw(text), false, &parts)) {
    CHECK(parts.empty());
    return "uncut";
  }
  std::string shown;
  for (const MappedText& part : parts) {
    shown += (&part == &parts.front() ? "" : "|") + part.text;
    if (!part.segments.empty()) shown += "@" + std::to_string(part.segments.front().raw_at);
  }
  return shown;
}

TEST_CASE("each escape yields its character", "[text]") {
  CHECK(Meaning("\\n") == "2 \n");
  CHECK(Meaning("\\r") == "2 \r");
  CHECK(Meaning("\\t") == "2 \t");
  CHECK(Meaning("\\\\") == "2 \\");
  CHECK(Meaning("\\'") == "2 '");
  CHECK(Meaning("\\\"") == "2 \"");
  CHECK(Meaning("\\/") == "2 /");
  CHECK(Meaning("a\\u00e9b", 1) == "6 é");
  CHECK(Meaning("\\u00E9") == "6 é");
  CHECK(Meaning("\\ud83d\\ude00") == "12 😀");
  CHECK(Meaning("\\U0001F600") == "10 😀");
  CHECK(Meaning("\\xe9") == "4 é");
  CHECK(Meaning("\\x4a") == "4 J");
  CHECK(Meaning("\\033") == "4 \x1b");
  CHECK(Meaning("\\101") == "4 A");
  CHECK(Meaning("\\177") == "4 \x7f");
}

TEST_CASE("surrogate pairs are combined", "[text]") {
  CHECK(Meaning("\\ud800\\udc00") == "12 \xF0\x90\x80\x80");
  CHECK(Meaning("\\udbff\\udfff") == "12 \xF4\x8F\xBF\xBF");
  const std::string replaced = "6 \xEF\xBF\xBD";
  CHECK(Meaning("\\ud83d") == replaced);
  CHECK(Meaning("\\ud83dx") == replaced);
  CHECK(Meaning("\\ud83d\\n") == replaced);
  CHECK(Meaning("\\ud83d\\u0041") == replaced);
  CHECK(Meaning("\\ud83d\\ue000") == replaced);
  CHECK(Meaning("\\ude00\\ud83d") == replaced);
  CHECK(Meaning("\\udc00\\udc00") == replaced);
  CHECK(Meaning("\\ue000\\udc00") == "6 \xEE\x80\x80");
}

TEST_CASE("an invalid escape is kept unchanged", "[text]") {
  for (const char* text :
       {"\\", "\\d", "\\u00g9", "\\u00e", "\\x4", "\\x4g", "\\U0001F60", "\\08", "\\03", "\\1", "\\200"}) {
    INFO(text);
    CHECK(Meaning(text) == "1 \\");
  }
}

TEST_CASE("a line is split at escaped breaks outside quotes", "[text]") {
  CHECK(Cut("one\\ntwo") == "one@0|two@5");
  CHECK(Cut("one\\r\\ntwo") == "one@0|two@7");
  CHECK(Cut("one\\ntwo\\tthree \\u00e9") == "one@0|two\tthree é@5");
  CHECK(Cut("one\\n\\ntwo") == "one@0||two@7");
  CHECK(Cut("one\\n") == "one@0");
  CHECK(Cut("one two") == "uncut");
  CHECK(Cut("one\\ttwo") == "uncut");
  CHECK(Cut("C:\\\\new") == "uncut");
}

TEST_CASE("a line is split at breaks in quoted text, and the surrounding text is separate", "[text]") {
  CHECK(Cut("print('one\\ntwo')") == "print(@0|one@7|two@12");
  CHECK(Cut("error: \"one\\ntwo\" at 5") == "error: @0|one@8|two@13| at 5@17");
  CHECK(Cut("b'one\\ntwo'") == "b@0|one@2|two@7");
  CHECK(Cut("('one\\ntwo',)") == "one@2|two@7");
  CHECK(Cut("\"one\\ntwo\", \"three\\nfour\"") == "one@1|two@6|three@13|four@20");
  CHECK(Cut("'one\\ntwo\\n'") == "one@1|two@6");
  // A text without a closing quote was truncated.
  CHECK(Cut("error: \"one\\ntwo") == "error: @0|one@8|two@13");
  // Other quoted texts are copied unchanged.
  CHECK(Cut("'a\\tb' and 'one\\ntwo'") == "'a\\tb' and @0|one@12|two@17");
}

TEST_CASE("a trailing break in quoted text is source code except in a notebook's list", "[text]") {
  CHECK(Cut("print(\"one\\n\")") == "uncut");
  CHECK(Cut("   \"one\\n\",") == "one@4");
  CHECK(Cut("   \"one\\n\", x") == "uncut");
  CHECK(Cut("x  \"one\\n\",") == "uncut");
  // If the break is escaped twice, the quoted text becomes a separate line.
  CHECK(Cut("f(\"one\\\\ntwo\")") == "f(@0|one\\ntwo@3");
}

TEST_CASE("apostrophes and inch marks do not open quoted text", "[text]") {
  CHECK(Cut("don't\\nshan't") == "don't@0|shan't@7");
  CHECK(Cut("params['x']\\ntwo") == "params['x']@0|two@13");
  CHECK(Cut("f(x)'s\\ntwo") == "f(x)'s@0|two@8");
  CHECK(Cut("a 5\" disk") == "uncut");
  CHECK(Cut("a \"5 disk\\ntwo") == "a @0|5 disk@3|two@11");
  CHECK(Cut("say 'x\\n") == "say 'x@0");
}

TEST_CASE("breaks in XLA's own quoted attributes are kept", "[text]") {
  for (const char* name :
       {"op_name=", "op_type=", "source_file=", "backend_config=", "custom_call_target=", "kernel_metadata="}) {
    INFO(name);
    CHECK(Cut(std::string(name) + "\"one\\ntwo\"") == "uncut");
  }
  CHECK(Cut("name=\"one\\ntwo\"") == "name=@0|one@6|two@11");
  CHECK(Cut("one\\nop_name=\"a\\nb\" two") == "one@0|op_name=\"a\\nb\" two@5");
}

}  // namespace TEST_FILE
