// Terms: named expressions.
#include <string>

#include "catch.h"
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
  const std::vector<NameUse> uses = text.name_uses();
  REQUIRE(uses.size() == 3);
  CHECK((uses[0].name == "used_bytes" && uses[0].at == 1 && uses[0].term == "over_bytes"));
  CHECK(uses[1].name == "limit_bytes");
  CHECK((uses[2].name == "size_bytes" && uses[2].at == 24 && uses[2].term == "is_large"));
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
    return set.fingerprint();
  };
  CHECK(fingerprint(kLarge) == fingerprint(kLarge));
  CHECK(fingerprint(kLarge) != fingerprint(""));
}

TEST_CASE("invalid names of terms are faults", "[rules]") {
  CHECK(Faults(R"("Is.Large": "1", "": "1", "2x": "1")") ==
        "user.json:2:12: 'Is.Large' is not a valid name for a term (use lower-case letters, digits and _)\n"
        "user.json:2:29: '' is not a valid name for a term (use lower-case letters, digits and _)\n"
        "user.json:2:38: '2x' is not a valid name for a term (use lower-case letters, digits and _)\n");
  CHECK(Faults(R"("min": "1", "not": "1", "unknown": "1")") ==
        "user.json:2:12: 'min' is a reserved word of expressions (choose another name for the term)\n"
        "user.json:2:24: 'not' is a reserved word of expressions (choose another name for the term)\n"
        "user.json:2:36: 'unknown' is a reserved word of expressions (choose another name for the term)\n");
  CHECK(Faults(R"("size_bytes": "1", "framework": "1")") ==
        "user.json:2:12: 'size_bytes' is already a field (choose another name for the term)\n"
        "user.json:2:31: 'framework' is already a field (choose another name for the term)\n");
  CHECK(Faults(R"("used_bytes": "1")") == "user.json:2:12: 'used_bytes' is already the name of a fact (of 'E1000')\n");
  CHECK(Faults(R"("before_bytes": "1")") ==
        "user.json:2:12: 'before_bytes' is already the name of a fact (of 'remat')\n");
  CHECK(Faults(R"("a": "1", "a": "2")") == "user.json:2:22: the key 'a' occurs twice in this object\n");
  RuleSet set;
  CHECK(Load({BaseRules()},
             {{"a.json", File(kLarge, "1")}, {"b.json", R"({"format": "whyoom.rules/1", "terms": {)" + kLarge + "}}"}},
             &set) == "b.json:1:40: the name 'is_large' is already in use (by a.json:2:12)\n");
}

TEST_CASE("a user's fact with the name of a built-in term is a fault", "[rules]") {
  const RuleFile built_in{"terms.json", R"({"format": "whyoom.rules/1", "terms": {"my_bytes": "used_bytes"}})"};
  RuleSet set;
  CHECK(Load({BaseRules(), built_in}, {{"user.json", R"({"format": "whyoom.rules/1", "contexts": [
    {"id": "mine", "patterns": ["a long literal %{size:my_bytes}"], "examples": [{"text": "a long literal 5G"}]}]})"}},
             &set) ==
        "user.json:2:12: the fact 'my_bytes' of 'mine' has the name of a term (the term is in terms.json:1:40)\n");
}

TEST_CASE("a cycle of terms is reported once", "[rules]") {
  CHECK(Faults(R"("a": "1 + b", "b": "c", "c": "2 * a", "d": "a", "e": "1")", "a + d + e") ==
        "user.json:2:22: the term 'a' depends on itself: a, b, c, a\n");
  CHECK(Faults(R"("a": "1 + a")", "a") == "user.json:2:22: the term 'a' depends on itself: a, a\n");
}

TEST_CASE("faults inside a term are reported once, at its definition", "[rules]") {
  CHECK(Faults(R"("a": "1 +", "b": "2 * a")", "a + b") ==
        "user.json:2:21: expected a number, a text, a name or '(', found the end\n");
  CHECK(Faults(R"("a": "used_byte + size_byts")", "a + 1") ==
        "user.json:2:18: unknown name 'used_byte' (did you mean 'used_bytes'?)\n"
        "user.json:2:30: unknown name 'size_byts' (did you mean 'size_bytes'?)\n");
  CHECK(Faults(R"("a": 5)") ==
        "user.json:2:17: expected a text or an array, found a number (A condition or formula.)\n");
}

TEST_CASE("names in a term are checked at each use", "[rules]") {
  CHECK(Faults(kLarge, "if(is_large, 1, 2)") ==
        "user.json:5:17: the term 'is_large' uses 'size_bytes', a field of a row, but this expression is not evaluated "
        "for a row (write it in a function over the rows)\n");
  CHECK(Faults(kLarge + R"json(, "has_large": "any_of(is_large)")json", "count_of(has_large)") ==
        "user.json:5:23: the term 'has_large' uses a function over the rows and cannot be used inside another one "
        "(compute it as a derived fact first)\n");
  CHECK(Faults(kLarge, "any_of(is_lage)") == "user.json:5:21: unknown name 'is_lage' (did you mean 'is_large'?)\n");
  // X1 does not provide the fact.
  const std::string other = R"({"format": "whyoom.rules/1", "terms": {"over_bytes": "used_bytes - 1"}, "failures": [{
    "code": "X1", "title": "t", "category": "c", "phase": "run", "heads": ["a long enough head"],
    "why": [{"text": "{over_bytes|size}"}], "examples": [{"text": "a long enough head"}]}]})";
  CHECK(LoadFaults(other) == "user.json:3:24: the term 'over_bytes' uses 'used_bytes', which 'X1' does not provide\n");
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
  CHECK(Faults(chain).find("terms are nested more than 8 deep") != std::string::npos);
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
