// Terms: named expressions.
#include <string>

#include "catch.h"
#include "made_rows.h"
#include "rules/expression.h"
#include "unit/rules/rule_data.h"

namespace whyoom {
namespace TEST_FILE {

// Two rows with sizes 6 and 1.
class Rows : public Scope {
 public:
  Value Get(std::string_view name) const override {
    return name == "limit_bytes" ? Value(10.0) : name == "used_bytes" ? Value(30.0) : Value(Unknown{});
  }
  std::size_t row_count() const override { return 2; }
  Value GetInRow(std::size_t row, std::string_view name) const override {
    return name == "size_bytes" ? Value(row == 0 ? 6.0 : 1.0) : Value(Unknown{});
  }
};

// A rule file with `terms` and a remedy that saves `saves`.
std::string File(const std::string& terms, const std::string& saves) {
  return R"({"format": "whyoom.rules/1",
 "terms": {)" +
         terms + R"(},
 "remedies": [{"id": "r", "title": "t", "safety": "safe", "safe_why": "s", "cost": 1, "gain": "g", "telltale": "t",
   "note": "n", "how": {"jax": ["Do it."]}, "links": [],
   "saves": ")" +
         saves + "\"}]}";
}

std::string Faults(const std::string& terms, const std::string& saves = "1") { return LoadFaults(File(terms, saves)); }

Value Saved(const std::string& terms, const std::string& saves) {
  RuleSet set;
  CHECK(Load({BaseRules()}, {{"user.json", File(terms, saves)}}, &set) == "");
  return set.FindRemedy("r")->saves->Evaluate(Rows());
}

const std::string kLarge = R"("is_large": "size_bytes > 0.5 * limit_bytes")";

TEST_CASE("a term evaluates like its expression", "[rules]") {
  CHECK(Saved(kLarge, "count_of(is_large)") == Value(1.0));
  CHECK(Saved(kLarge, "sum_of(size_bytes, not is_large)") == Value(1.0));
  CHECK(Saved(kLarge + R"json(, "has_large": "any_of(is_large)")json", "if(has_large, used_bytes, 0)") == Value(30.0));
  // As if it were in parentheses.
  CHECK(Saved(R"("over_bytes": "used_bytes - limit_bytes")", "used_bytes - 2 * over_bytes") == Value(-10.0));
  // The order in the file does not matter, and a term may be split into lines and pieces.
  CHECK(Saved(R"("a_bytes": "z_bytes + 1", "z_bytes": ["used_bytes -", ["limit_", "bytes"]])", "a_bytes") ==
        Value(21.0));
}

TEST_CASE("templates can use terms", "[rules]") {
  std::vector<SyntaxFault> faults;
  Terms terms;
  terms["over_bytes"] = Expression::Compile("used_bytes - limit_bytes", &faults);
  terms["is_large"] = Expression::Compile("size_bytes > 5", &faults);
  const Template text = Template::Compile("{over_bytes} too many, {is_large}", &faults, terms);
  CHECK(faults.empty());
  CHECK(text.FillInRow(Rows(), 1) == "20 too many, false");
  const std::vector<NameUse> uses = NamesIn(text);
  REQUIRE(uses.size() == 2);
  CHECK((uses[0].name == "over_bytes" && uses[0].at == 1));
  CHECK((uses[1].name == "is_large" && uses[1].at == 24));
}

TEST_CASE("a file can use and replace built-in terms", "[rules]") {
  const RuleFile built_in{"terms.json", R"({"format": "whyoom.rules/1", "terms": {)" + kLarge + "}}"};
  const auto saved = [&](const std::string& terms) {
    RuleSet set;
    CHECK(Load({BaseRules(), built_in}, {{"user.json", File(terms, "count_of(is_large)")}}, &set) == "");
    return set.FindRemedy("r")->saves->Evaluate(Rows());
  };
  CHECK(saved("") == Value(1.0));
  CHECK(saved(R"("is_large": "size_bytes > 0.01 * limit_bytes")") == Value(2.0));
}

TEST_CASE("terms are part of the fingerprint", "[rules]") {
  const auto fingerprint = [](const std::string& terms) {
    RuleSet set;
    CHECK(Load({BaseRules()}, {{"user.json", File(terms, "1")}}, &set) == "");
    return set.fingerprint;
  };
  CHECK(fingerprint(kLarge) == fingerprint(kLarge));
  CHECK(fingerprint(kLarge) != fingerprint(""));
}

TEST_CASE("invalid names of terms are faults", "[rules]") {
  for (const std::string name : {"Is.Large", "", "2x", "not", "unknown", " a"})
    CHECK(Faults("\"" + name + "\": \"1\"") == "user.json:2:12: '" + name + "' is not a valid name for a term\n");
  for (const std::string name : {"size_bytes", "framework", "used_bytes", "before_bytes"}) {
    CHECK(Faults("\"" + name + "\": \"1\"") ==
          "user.json:2:12: '" + name + "' is already a field or a fact (choose another name for the term)\n");
  }
  CHECK(Faults(R"("a": "1", "a": "2")") == "user.json:2:22: the key 'a' occurs twice in this object\n");
  RuleSet set;
  CHECK(Load({BaseRules()},
             {{"a.json", File(kLarge, "1")}, {"b.json", R"({"format": "whyoom.rules/1", "terms": {)" + kLarge + "}}"}},
             &set) == "b.json:1:40: 'is_large' is already in use (by a.json:2:12)\n");
}

TEST_CASE("a user's fact with the name of a built-in term is a fault", "[rules]") {
  const RuleFile built_in{"terms.json", R"({"format": "whyoom.rules/1", "terms": {"my_bytes": "used_bytes"}})"};
  RuleSet set;
  CHECK(Load({BaseRules(), built_in}, {{"user.json", R"({"format": "whyoom.rules/1", "contexts": [
    {"id": "mine", "patterns": ["a long literal %{size:my_bytes}"], "examples": [{"text": "a long literal 5G"}]}]})"}},
             &set) == "user.json:2:33: the fact 'my_bytes' has the name of a term\n");
}

TEST_CASE("a cycle of terms is reported once", "[rules]") {
  CHECK(Faults(R"("a": "1 + b", "b": "c", "c": "2 * a", "d": "a", "e": "1")", "a + d + e") ==
        "user.json:2:41: the term 'c' depends on itself or is nested too deep (through 'a')\n");
  CHECK(Faults(R"("a": "1 + a")", "a") ==
        "user.json:2:17: the term 'a' depends on itself or is nested too deep (through 'a')\n");
  // Through a built-in term.
  RuleSet set;
  CHECK(Load({BaseRules()}, {{"user.json", R"({"format": "whyoom.rules/1",
 "terms": {"is_new": "replicated", "replicated": "is_new"}})"}},
             &set) ==
        "user.json:2:50: the term 'replicated' depends on itself or is nested too deep (through 'is_new')\n");
}

TEST_CASE("faults inside a term are reported once, at its definition", "[rules]") {
  CHECK(Faults(R"("a": "1 +", "b": "2 * a")", "a + b") ==
        "user.json:2:21: expected a number, a text, a name or '(', found the end\n");
  CHECK(Faults(R"("a": "used_byte + size_byts")", "a + 1") ==
        "user.json:2:18: unknown name 'used_byte' (did you mean 'used_bytes'?)\n"
        "user.json:2:30: unknown name 'size_byts' (did you mean 'size_bytes'?)\n");
  CHECK(Faults(R"("a": 5)") == "user.json:2:17: expected a text or an array, found a number\n");
}

TEST_CASE("a term about a row is a field of the row", "[rules]") {
  RuleSet set;
  CHECK(Load({BaseRules()},
             {{"user.json", File(R"("is_whole": "replicated and is_long", "is_long": "size_bytes > 5")",
                                 "if(largest.is_whole, 1, 0)")}},
             &set) == "");
  Allocation row;
  row.size_bytes = 6;
  row.xla_label = "param, replicated";
  CHECK(FieldOf(set, row, "is_whole") == Value(true));
  CHECK(FieldOf(set, row, "size_bytes") == Value(6.0));
  row.size_bytes = 5;
  CHECK(FieldOf(set, row, "is_whole") == Value(false));
  row.xla_label.clear();  // unknown
  CHECK(FieldOf(set, row, "replicated") == Value(Unknown{}));
  CHECK(FieldOf(set, row, "is_hole") == Value(Unknown{}));
}

TEST_CASE("misused terms are faults", "[rules]") {
  CHECK(LoadFaults(R"({"format": "whyoom.rules/1", "terms": ["a"]})") == "user.json:1:39: expected an object\n");
  CHECK(Faults(kLarge + R"json(, "has_large": "any_of(is_large)")json", "count_of(has_large)") ==
        "user.json:5:23: the term 'has_large' uses a function over the rows and cannot be used inside another one "
        "(compute it as a derived fact first)\n");
  CHECK(Faults(kLarge, "any_of(is_lage)") == "user.json:5:21: unknown name 'is_lage' (did you mean 'is_large'?)\n");
}

TEST_CASE("hostile terms are limited in size and depth", "[rules]") {
  std::string doubled = R"("t0": "used_bytes + used_bytes")";
  for (int i = 1; i < 8; ++i) {
    const std::string last = "t" + std::to_string(i - 1);
    std::string sum = last;
    for (int k = 0; k < 7; ++k) sum += " + " + last;
    doubled += ", \"t" + std::to_string(i) + "\": \"" + sum + "\"";
  }
  CHECK(Faults(doubled).find("including its terms, the expression has more than 65536 parts") != std::string::npos);
  std::string chain = R"("t0": "1")";
  for (int i = 1; i < 5000; ++i) chain += ", \"t" + std::to_string(i) + "\": \"t" + std::to_string(i - 1) + "\"";
  CHECK(Faults(chain).find("depends on itself or is nested too deep (through 't") != std::string::npos);
}

TEST_CASE("a line can be split into pieces", "[rules]") {
  RuleSet set;
  CHECK(Load({BaseRules()}, {{"user.json", R"({"format": "whyoom.rules/1", "failures": [{
    "code": "X1", "title": "t", "category": "c", "phase": "run", "heads": [["a long enough", ["he", "ad"]]],
    "about": [["one", ["para", "graph"]], "two"],
    "examples": [{"text": ["first", ["a long enough ", "head"], "last"]}]}]})"}},
             &set) == "");
  const FailureRule* failure = set.FindFailure("X1");
  REQUIRE(failure != nullptr);
  CHECK(failure->header_patterns.at(0).pattern.source() == "a long enough head");
  CHECK(failure->about == std::vector<std::string>{"one paragraph", "two"});
  CHECK(failure->samples.examples.at(0).text == "first\na long enough head\nlast");
  // A fault is located inside the piece.
  CHECK(LoadFaults(R"({"format": "whyoom.rules/1", "terms": {"a": ["1 +", ["2 + ",
 "used_byts"]]}})") == "user.json:2:3: unknown name 'used_byts' (did you mean 'used_bytes'?)\n");
}

}  // namespace TEST_FILE
}  // namespace whyoom
