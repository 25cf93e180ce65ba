// Values of a rule file and the locations of their faults.
#include "rules/rule_node.h"

#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "show.h"

namespace whyoom {
namespace TEST_FILE {

// A file with its faults.
struct File {
  explicit File(const std::string& text, bool trusted = false) {
    file.name = "test.json";
    file.trusted = trusted;
    file.document = JsonDocument::Parse(text);
    REQUIRE(file.document.faults().empty());
  }
  RuleNode root() { return RuleNode::Root(&file, &sink); }
  // "2:5 what" for each fault.
  std::vector<std::string> Faults() const {
    std::vector<std::string> faults;
    for (const Fault& fault : sink.Sorted())
      faults.push_back(std::to_string(fault.line) + ":" + std::to_string(fault.column) + " " + fault.what);
    return faults;
  }

  LoadedFile file;
  FaultSink sink;
};

using Texts = std::vector<std::string>;

struct Nothing : Scope {
  Value Get(std::string_view) const override { return Unknown{}; }
};

TEST_CASE("a missing value reads as empty without a fault", "[rules]") {
  File file("{\"a\": 1}");
  const RuleNode none = file.root()["b"];
  CHECK_FALSE(none.exists());
  CHECK_FALSE(none.is_object());
  CHECK_FALSE(none.is_null());
  CHECK_FALSE(none["c"]["d"].exists());
  CHECK(none.Items().empty());
  CHECK(none.Members().empty());
  CHECK(none.Text().empty());
  CHECK(none.Lines().empty());
  CHECK(none.Words().empty());
  CHECK_FALSE(none.Bool());
  CHECK(none.Int(7) == 7);
  CHECK(Show(none.Scalar()) == "unknown");
  CHECK_FALSE(none.AsPattern().ok());
  CHECK(none.AsExpression({}).source().empty());
  CHECK(none.AsTemplate({}).source().empty());
  CHECK(file.Faults().empty());
}

TEST_CASE("a value of the wrong type reads as empty without a fault", "[rules]") {
  File file(R"({"number": 3, "text": "t", "list": [1], "null": null, "part": 2.5})");
  const RuleNode root = file.root();
  CHECK(root["number"].Text().empty());
  CHECK(root["number"].Items().empty());
  CHECK(root["number"]["x"].exists() == false);
  CHECK_FALSE(root["number"].Bool());
  CHECK(root["text"].Int(7) == 7);
  CHECK(root["part"].Int(7) == 7);
  CHECK(root["text"].Members().empty());
  CHECK(root["list"].Members().empty());
  CHECK(root["list"].Text().empty());
  CHECK(root["null"].exists());
  CHECK(root["null"].is_null());
  CHECK(Show(root["null"].Scalar()) == "unknown");
  CHECK(Show(root["list"].Scalar()) == "unknown");
  CHECK(file.Faults().empty());
}

TEST_CASE("JSON scalars become values", "[rules]") {
  File file(R"({"yes": true, "no": false, "number": 3, "part": 0.5, "text": "t"})");
  const RuleNode root = file.root();
  CHECK(Show(root["yes"].Scalar()) == "true");
  CHECK(Show(root["no"].Scalar()) == "false");
  CHECK(Show(root["number"].Scalar()) == "3");
  CHECK(Show(root["part"].Scalar()) == "0.5");
  CHECK(Show(root["text"].Scalar()) == "'t'");
  CHECK(root["yes"].Bool());
  CHECK_FALSE(root["no"].Bool());
  CHECK(root["number"].Int(7) == 3);
}

TEST_CASE("integers are clamped to the range of int", "[rules]") {
  File file(R"({"large": 9223372036854775807, "small": -9223372036854775808, "most": 2147483647})");
  CHECK(file.root()["large"].Int(0) == 2147483647);
  CHECK(file.root()["small"].Int(0) == -2147483647 - 1);
  CHECK(file.root()["most"].Int(0) == 2147483647);
}

TEST_CASE("strings are joined with a blank or line break, pieces without separator", "[rules]") {
  File file(
      R"({"one": "a", "more": ["a", "b", "c"], "pieces": ["a", ["b", "c"], "d"], "none": [], "empty": ["", ""]})");
  const RuleNode root = file.root();
  CHECK(root["one"].Text() == "a");
  CHECK(root["one"].Lines() == "a");
  CHECK(root["more"].Text() == "a b c");
  CHECK(root["more"].Lines() == "a\nb\nc");
  CHECK(root["pieces"].Text() == "a bc d");
  CHECK(root["pieces"].Lines() == "a\nbc\nd");
  CHECK(root["none"].Text().empty());
  CHECK(root["empty"].Text() == " ");
  CHECK(root["more"].Words() == Texts{"a", "b", "c"});
  CHECK(root["none"].Words().empty());
}

TEST_CASE("items and members have locations", "[rules]") {
  File file("{\n  \"list\": [10,\n    20],\n  \"a/b\": {\"c~d\": 1}\n}");
  const RuleNode root = file.root();
  CHECK(root.is_object());
  const std::vector<RuleNode> items = root["list"].Items();
  REQUIRE(items.size() == 2);
  CHECK(items[1].Int(0) == 20);
  CHECK(items[1].place().line == 3);
  CHECK(items[1].place().column == 5);
  const std::vector<std::pair<std::string, RuleNode>> members = root.Members();
  REQUIRE(members.size() == 2);
  for (const auto& [key, node] : members) {
    INFO(key);
    CHECK(&node.json() == &root[key].json());
    CHECK(node.key_place().line == (key == "list" ? 2 : 4));
    CHECK(node.key_place().column == 3);
  }
  CHECK(root["a/b"]["c~d"].Int(0) == 1);
  CHECK(root["a/b"]["c~d"].place().column == 18);
  CHECK(root["a/b"]["c~d"].key_place().column == 11);
  CHECK(root.file().name == "test.json");
}

TEST_CASE("a fault is placed at the value, the key, or a byte of the text", "[rules]") {
  File file("{\n  \"key\": [\"ab\", \"c\\u0064e\"]\n}");
  const RuleNode node = file.root()["key"];
  node.Report("value", "hint");
  node.ReportKey("key");
  node.ReportAt(0, "first");
  node.ReportAt(1, "second");
  node.ReportAt(5, "behind an escape");  // the "e" in "ab cde"
  CHECK(file.Faults() == Texts{"2:3 key", "2:10 value", "2:12 first", "2:13 second", "2:25 behind an escape"});
  CHECK(file.sink.Sorted()[1].hint == "hint");
  CHECK(file.sink.Sorted()[1].file == "test.json");
}

TEST_CASE("faults are unique and in the order of the files", "[rules]") {
  LoadedFile first;
  first.name = "z.json";
  LoadedFile second;
  second.name = "a.json";
  second.order = 1;
  FaultSink sink;
  sink.Add(second, {1, 1}, "second", "");
  sink.Add(first, {3, 1}, "late", "");
  sink.Add(first, {2, 9}, "right", "");
  sink.Add(first, {2, 1}, "left", "");
  sink.Add(first, {3, 1}, "late", "");
  sink.Add(first, {3, 1}, "late", "with a hint");
  CHECK(sink.size() >= 5);
  Texts what;
  for (const Fault& fault : sink.Sorted()) what.push_back(fault.file + " " + fault.what);
  CHECK(what == Texts{"z.json left", "z.json right", "z.json late", "z.json late", "a.json second"});
  CHECK(FaultSink().Sorted().empty());
  CHECK(FaultSink().size() == 0);
}

TEST_CASE("faults of expressions, templates and patterns have a location", "[rules]") {
  File good(R"({"when": "a > 1", "say": "{a|size}", "pattern": "used %{size:a}"})");
  CHECK(good.root()["when"].AsExpression({}).source() == "a > 1");
  CHECK(good.root()["say"].AsTemplate({}).source() == "{a|size}");
  CHECK(good.root()["pattern"].AsPattern().capture_names() == Texts{"a"});
  CHECK(good.Faults().empty());

  File bad("{\n\"when\": [\"a >\", \"* 1\"],\n\"say\": \"{a\",\n\"pattern\": \"(\"}");
  CHECK(Show(bad.root()["when"].AsExpression({}).Evaluate(Nothing())) == "unknown");
  REQUIRE(bad.Faults().size() == 1);
  CHECK(bad.Faults()[0].starts_with("2:"));
  bad.root()["say"].AsTemplate({});
  REQUIRE(bad.Faults().size() == 2);
  CHECK(bad.Faults()[1].starts_with("3:"));
  CHECK_FALSE(bad.root()["pattern"].AsPattern().ok());
  REQUIRE(bad.Faults().size() == 3);
  CHECK(bad.Faults()[2].starts_with("4:"));
}

TEST_CASE("the name of a term is replaced by its expression", "[rules]") {
  File file(R"({"when": "large"})");
  std::vector<SyntaxFault> faults;
  const Terms terms = {{"large", Expression::Compile("1 < 2", &faults)}};
  CHECK(Show(file.root()["when"].AsExpression(terms).Evaluate(Nothing())) == "true");
  CHECK(Show(file.root()["when"].AsExpression({}).Evaluate(Nothing())) == "unknown");
}

TEST_CASE("invisible characters are a fault except in trusted files", "[rules]") {
  const std::string text = R"({"title": "a\u001b[2Jb"})";
  File file(text);
  CHECK(file.root()["title"].Text() == "a\x1b[2Jb");
  CHECK(file.Faults().size() == 1);
  File trusted(text, true);
  CHECK(trusted.root()["title"].Text() == "a\x1b[2Jb");
  CHECK(trusted.Faults().empty());
}

}  // namespace TEST_FILE

}  // namespace whyoom
