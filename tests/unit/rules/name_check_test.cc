// Checks the names that rule data uses against those that it provides.
#include <set>
#include <string>
#include <vector>

#include "catch.h"
#include "rules/names.h"

namespace whyoom {
namespace TEST_FILE {

using Texts = std::vector<std::string>;

// Checks expressions that are members of one JSON file.
class Check {
 public:
  explicit Check(const std::string& text) : file_({"test.json", text}) { REQUIRE(file_.SortedFaults().empty()); }

  const JsonNode& At(const std::string& key) { return file_.root()[key]; }

  // Adds the names of the expression at `key` as uses by `owner`.
  void Use(const std::string& owner, const std::string& key, bool in_row = false) {
    std::vector<SyntaxFault> faults;
    names.Use(owner, At(key), Expression::Compile(At(key).Text(), &faults).name_uses(), in_row);
    REQUIRE(faults.empty());
  }

  // "1:13 unknown name 'x'" for each fault.
  Texts Run() {
    names.Run();
    Texts said;
    for (const Fault& fault : file_.SortedFaults())
      said.push_back(std::to_string(fault.line) + ":" + std::to_string(fault.column) + " " + fault.what);
    return said;
  }
  Texts Hints() const {
    Texts hints;
    for (const Fault& fault : file_.SortedFaults()) hints.push_back(fault.hint);
    return hints;
  }

  NameCheck names;

 private:
  LoadedFile file_;
};

TEST_CASE("without uses there are no faults", "[rules]") {
  Check check("{}");
  CHECK(check.Run().empty());
  CHECK(check.names.FactsOf("E1").empty());
}

TEST_CASE("a failure can use its own facts, wherever they are provided", "[rules]") {
  Check check(R"({"when": "mine_bytes > 1 and theirs_bytes > 1"})");
  check.Use("E1", "when");
  check.names.Give("E1", "mine_bytes");
  check.names.Give("E2", "theirs_bytes");
  CHECK(check.Run() == Texts{"1:30 unknown name 'theirs_bytes'"});
  CHECK(check.names.FactsOf("E1") == std::set<std::string>{"mine_bytes"});
}

TEST_CASE("a remedy can use the facts of all failures and built-in names", "[rules]") {
  Check check(R"({"when": "mine_bytes > 1 and theirs_bytes > 1 and listed > 0 and largest.size_bytes > 1"})");
  check.Use("", "when");
  check.names.Give("E1", "mine_bytes");
  check.names.Give("E2", "theirs_bytes");
  CHECK(check.Run().empty());
}

TEST_CASE("a misspelt name yields a suggestion", "[rules]") {
  Check check(R"({"when": "mine_byte > 1", "far": "something_else"})");
  check.names.Give("E1", "mine_bytes");
  check.Use("E1", "when");
  check.Use("E1", "far");
  CHECK(check.Run() == Texts{"1:11 unknown name 'mine_byte'", "1:35 unknown name 'something_else'"});
  CHECK(check.Hints() == Texts{"did you mean 'mine_bytes'?", ""});
}

TEST_CASE("a suggestion can be a term", "[rules]") {
  Check check(R"({"when": "too_larg"})");
  check.names.AddTermName("too_large");
  check.Use("E1", "when");
  CHECK(check.Run().size() == 1);
  CHECK(check.Hints() == Texts{"did you mean 'too_large'?"});
}

TEST_CASE("a field of a row is valid in a row and in functions over rows only", "[rules]") {
  Check check(R"({"row": "size_bytes > 1", "over": "sum_of(size_bytes, true) > 1", "plain": "size_bytes > 1"})");
  check.Use("E1", "row", true);
  check.Use("E1", "over");
  check.Use("E1", "plain");
  const Texts said = check.Run();
  REQUIRE(said.size() == 1);
  CHECK(said[0].find("'size_bytes' is a field of a row") != std::string::npos);
}

TEST_CASE("a defined row field is valid like the built-in ones", "[rules]") {
  Check check(R"({"when": "replicated"})");
  check.Use("E1", "when", true);
  check.names.AddRowField("replicated");
  CHECK(check.Run().empty());
}

TEST_CASE("expressions of comparisons use facts by run", "[rules]") {
  Check check(
      R"({"good": "before.mine_bytes > after.mine_bytes and same_job and after.failed", "bad": "mine_bytes > 1"})");
  check.names.Give("E1", "mine_bytes");
  check.Use(kComparisonOwner, "good");
  CHECK(check.Run().empty());
  check.Use(kComparisonOwner, "bad");
  CHECK(check.Run().size() == 1);
}

TEST_CASE("terms can use any name that exists", "[rules]") {
  Check check(R"({"good": "mine_bytes > 1 and before.mine_bytes > 1 and size_bytes > 1", "bad": "nothing_gives"})");
  check.names.Give("E1", "mine_bytes");
  check.Use(kTermsOwner, "good", true);
  check.Use(kTermsOwner, "bad");
  const Texts said = check.Run();
  REQUIRE(said.size() == 1);
  CHECK(said[0].ends_with("unknown name 'nothing_gives'"));
}

TEST_CASE("facts that are listed by name are checked, too", "[rules]") {
  Check check(R"({"identity": "mine_byte", "known": "mine_bytes"})");
  check.names.Give("E1", "mine_bytes");
  check.names.UseFact("E1", check.At("identity"), "mine_byte");
  check.names.UseFact("E1", check.At("known"), "mine_bytes");
  const Texts said = check.Run();
  REQUIRE(said.size() == 1);
  CHECK(said[0].ends_with("unknown name 'mine_byte'"));
}

TEST_CASE("a failure with unknown facts yields no faults", "[rules]") {
  Check check(R"({"one": "unknown_one > 1", "two": "unknown_two > 1", "any": "unknown_three > 1"})");
  check.Use("E1", "one");
  check.Use("E2", "two");
  check.Use("", "any");  // a remedy, which may use the facts of E1
  check.names.SuppressFaults("E1");
  const Texts said = check.Run();
  REQUIRE(said.size() == 1);
  CHECK(said[0].ends_with("unknown name 'unknown_two'"));
}

}  // namespace TEST_FILE

}  // namespace whyoom
