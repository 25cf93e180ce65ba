// Quoting of words in suggested commands.
#include <string>

#include "catch.h"
#include "report/encodings.h"

namespace whyoom {
namespace TEST_FILE {

TEST_CASE("a shell reads a quoted word unchanged", "[report]") {
  CHECK(ShellWord("rules/ours-2.json") == "rules/ours-2.json");
  CHECK(ShellWord("my rules.json") == "'my rules.json'");
  CHECK(ShellWord("it's; rm -r $HOME") == "'it'\\''s; rm -r $HOME'");
  CHECK(ShellWord("~x") == "'~x'");
  CHECK(ShellWord("") == "''");
  CHECK(ShellWord("größe.json") == "'größe.json'");
}

TEST_CASE("a quoted word is printable", "[report]") {
  CHECK(ShellWord("a\x1b[31mb'\\") == "'a\xef\xbf\xbd[31mb'\\''\\'");
  CHECK(ShellWord("two\nlines") == "'two lines'");
}

}  // namespace TEST_FILE
}  // namespace whyoom
