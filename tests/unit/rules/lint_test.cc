// Faults of rules in combination, and notes about questionable ones.
#include <string>

#include "catch.h"
#include "unit/rules/rule_data.h"

namespace whyoom {
namespace TEST_FILE {

struct CheckResult {
  std::string faults;
  std::string notes;
};

CheckResult Check(const std::string& sections) {
  std::vector<Fault> faults;
  std::vector<Fault> notes;
  const std::string text = R"({"format": "whyoom.rules/1", )" + sections + "}";
  RuleSetBuilder::Build(RuleSet::SchemaText(), {BaseRules()}, {{"user.json", text}}, &faults,
                        RuleSet::BuiltInData::kChecked, nullptr, &notes);
  CheckResult said;
  const auto add = [](const std::vector<Fault>& all, std::string* to) {
    for (const Fault& fault : all) {
      if (fault.file == "user.json") *to += fault.ToString() + "\n" + fault.Caret();
    }
  };
  add(faults, &said.faults);
  add(notes, &said.notes);
  return said;
}

bool Contains(const std::string& text, const std::string& part) {
  UNSCOPED_INFO(text);
  return text.find(part) != std::string::npos;
}

// A failure X1 with the header `head`; `more` contains further keys.
std::string Failure1(const std::string& head, const std::string& more = "", const std::string& example = "") {
  return R"("failures": [{"code": "X1", "title": "t", "category": "c", "phase": "run", "heads": [)" + head + "]" +
         more + R"(, "examples": {"match": [{"text": ")" + (example.empty() ? "the pool is full" : example) +
         R"("}]}}])";
}

const std::string kHead = R"("the pool is full")";

TEST_CASE("a duplicate header is reported with a caret under it", "[rules]") {
  const std::string said = Check(Failure1(R"("Error allocating device buffer")", "", "none")).faults;
  CHECK(
      said.starts_with("user.json:1:115: a head of '0100' already has this pattern (it is in base.json:33:15)\n    …"));
  const std::size_t line = said.find('\n') + 1;
  const std::size_t end = said.find('\n', line);
  // "…" has two more bytes than columns.
  CHECK(said.substr(line).find("\"Error") == said.find('^') - end - 1 + 2);
}

TEST_CASE("an example that another failure's header matches is a fault", "[rules]") {
  CHECK(Contains(
      Check(Failure1(R"("allocating device buffer of the pool")", "", "Error allocating device buffer of the pool"))
          .faults,
      "a head of '0100' matches the same words"));
  CHECK(Check(Failure1(R"("allocating device buffer of the pool")", R"(, "absorbed_by": ["0100"])",
                       "Error allocating device buffer of the pool"))
            .faults == "");
}

TEST_CASE("two scenarios with the same condition are a fault", "[rules]") {
  const auto scenarios = [](const std::string& first, const std::string& second) {
    return Check(Failure1(kHead, R"(, "scenarios": [{"id": "a", "title": "t", )" + first +
                                     R"(}, {"id": "b", "title": "t", )" + second + "}]"))
        .faults;
  };
  CHECK(Contains(scenarios(R"("when": "listed > 1")", R"("when": "listed>1.0")"), "'a' has the same condition"));
  CHECK(Contains(scenarios(R"("when": "listed > 1")", R"("when": "listed > 1", "priority": 5)"),
                 "'b' has the same condition"));
  CHECK(scenarios(R"("when": "listed > 1")", R"("when": "listed > 2")") == "");
  CHECK(Contains(scenarios(R"("when": "framework == 'a'")", R"("when": "framework == 'a'")"), "'a' has"));
  CHECK(scenarios(R"("when": "framework == 'a'")", R"("when": "framework == 'b'")") == "");
}

TEST_CASE("an unused entry in a user's file yields a note", "[rules]") {
  const std::string remedy =
      R"("remedies": [{"id": "lonely", "title": "t", "safety": "safe", "safe_why": "s", "cost": 1, "gain": "g",
      "telltale": "t", "note": "n", "how": {"jax": ["now"]}, "links": []}])";
  CheckResult said = Check(remedy);
  CHECK(said.faults == "");
  CHECK(Contains(said.notes, "no failure offers the remedy 'lonely'"));
  said = Check(remedy + R"(, "extensions": [{"extends": "E1000", "remedies": [{"id": "lonely", "section": "ours"}]}])");
  CHECK(said.notes == "");
  CHECK(Contains(Check(R"("terms": {"is_odd": "listed > 3"})").notes, "no expression uses the term 'is_odd'"));
  CHECK(Contains(Check(R"("row_fields": {"is_odd": {"when": "dims > 3", "about": "odd"}})").notes,
                 "no expression uses the field 'is_odd'"));
  CHECK(Contains(Check(R"("contexts": [{"id": "odd", "pattern": "an odd line of %{size:odd_bytes}",
                     "examples": {"match": [{"text": "an odd line of 5G"}]}}])")
                     .notes,
                 "no failure uses the context 'odd'"));
}

TEST_CASE("a missing derived fact yields a hint with its formula", "[rules]") {
  CHECK(Contains(
      Check(Failure1(R"("the pool is full of %{size:need_bytes} and %{size:have_bytes}")",
                     R"(, "why": [{"text": "{excess_bytes|size} too much"}])", "the pool is full of 3G and 2G"))
          .faults,
      R"(derive it: {"fact": "excess_bytes", "from": "need_bytes - have_bytes"})"));
}

TEST_CASE("an unknown group in a prefix pattern is a fault", "[rules]") {
  const std::string said =
      Check(
          R"("affixes": [{"id": "x", "place": "prefix", "pattern": "(?P<reportr>host\\d+): ", "examples": ["host1: x"],
      "leaves": ["x"]}])")
          .faults;
  CHECK(Contains(said, "unknown group 'reportr' (did you mean 'reporter'?)"));
}

TEST_CASE("comparing or computing with types that never fit is a fault", "[rules]") {
  const auto when = [](const std::string& condition) {
    return Check(Failure1(R"("the pool is full of %{size:used_bytes} and %{word:thing}")",
                          R"(, "scenarios": [{"id": "a", "title": "t", "when": ")" + condition + R"("}])",
                          "the pool is full of 5G and x"))
        .faults;
  };
  CHECK(Contains(when("used_bytes > 'x'"), "a number is compared with a text"));
  CHECK(Contains(when("thing < 5"), "a text is compared with a number"));
  CHECK(Contains(when("thing < 'a'"), "a text cannot be ordered"));
  CHECK(Contains(when("used_bytes + thing > 5"), "arithmetic with a text"));
  CHECK(Contains(when("any_of(dtype == 5)"), "a text is compared with a number"));
  CHECK(Contains(when("largest.shape == true"), "a text is compared with true or false"));
  for (const char* good : {"used_bytes > 5", "thing == 'x'", "any_of(dtype == 'f32')", "default(thing, 'x') == 'x'",
                           "if(known(thing), used_bytes, 5) > 3", "any_of(replicated) == true", "chip == 'v5e'",
                           "excess_of_nothing == 5 or true"}) {
    CAPTURE(good);
    CHECK_FALSE(Contains(when(good), "compared with"));
  }
}

TEST_CASE("each framework of a remedy needs a step without placeholders", "[rules]") {
  CHECK(Contains(
      Check(R"("remedies": [{"id": "shard", "title": "t", "safety": "safe", "safe_why": "s", "cost": 1, "gain": "g",
      "telltale": "t", "note": "n", "how": {"jax": ["now"], "keras": ["Take {used_bytes|size}."]}, "links": []}])")
          .faults,
      "every step for 'keras' has a placeholder"));
}

TEST_CASE("a misspelt special fact yields a hint", "[rules]") {
  const std::string derived = R"(, "derived": [{"fact": "need_byte", "from": "listed + 1"}])";
  CHECK(Contains(Check(Failure1(kHead, derived)).notes,
                 "nothing uses the fact 'need_byte' (did you mean 'need_bytes'?)"));
}

TEST_CASE("an unused capture yields a note", "[rules]") {
  CHECK(Contains(Check(Failure1(R"("the pool has %{size:head_bytes}")", "", "the pool has 5G")).notes,
                 "nothing uses the fact 'head_bytes' (reports print it"));
  CHECK(Check(Failure1(R"("the pool has %{size:used_bytes}")", "", "the pool has 5G")).notes == "");
}

TEST_CASE("derived facts that depend on their order yield a note", "[rules]") {
  const auto notes = [](const std::string& derived) {
    return Check(Failure1(kHead, R"(, "derived": [)" + derived + "]")).notes;
  };
  const std::string first = R"({"fact": "need_bytes", "when": "listed > 1", "from": "listed"})";
  CHECK(Contains(notes(first + R"(, {"fact": "need_bytes", "from": "listed + 1"})"), "has the same priority"));
  CHECK(notes(first + R"(, {"fact": "need_bytes", "from": "listed + 1", "priority": 1})") == "");
  const std::string need = R"({"fact": "need_bytes", "from": "listed"})";
  const std::string excess = R"({"fact": "excess_bytes", "from": "need_bytes - 1"})";
  CHECK(Contains(notes(excess + ", " + need), "this uses 'need_bytes', which is derived later"));
  CHECK(notes(need + ", " + excess) == "");
}

TEST_CASE("an example with sizes but no excess yields a note", "[rules]") {
  const auto notes = [](const std::string& head) {
    return Check(Failure1(head, R"(, "derived": [{"fact": "need_bytes", "from": "used_bytes"},
      {"fact": "excess_bytes", "from": "used_bytes - limit_bytes"}])",
                          "the pool has 5G and takes 7G"))
        .notes;
  };
  CHECK(Contains(notes(R"("the pool has %{size:used_bytes} and takes %{size:limit_bytes}")"),
                 "'X1' derives no excess from this example (excess_bytes = -2.00 GiB, limit_bytes = 7.00 GiB"));
  CHECK(notes(R"("the pool has %{size:limit_bytes} and takes %{size:used_bytes}")") == "");
}

TEST_CASE("if a capture has the name of a term, the fault is located at the capture", "[rules]") {
  const std::string terms = R"("terms": {"is_odd": "listed > 3"}, )";
  const std::string text = R"({"format": "whyoom.rules/1", )" +
                           Failure1(R"("the pool is full of %{size:is_odd}")", "", "the pool is full of 5G") + "}";
  std::vector<RuleFile> base = {BaseRules(),
                                {"terms.json", R"({"format": "whyoom.rules/1", "terms": {"is_odd": "listed > 3"}})"}};
  RuleSet set;
  const std::string said = Load(base, {{"user.json", text}}, &set);
  CHECK(
      Contains(said, "user.json:1:" + std::to_string(text.find("is_odd}") + 1) + ": a fact of 'X1' has the same name"));
}

TEST_CASE("a caret is placed below its column in any line", "[rules]") {
  Fault fault{"f.json", 1, 5, "what", "", "a\xC3\xA4\xE5\x86\x85x"};
  fault.column = 7;
  CHECK(fault.Caret() == "    a\xC3\xA4\xE5\x86\x85x\n        ^\n");
  fault.source = std::string(500, ' ');
  fault.column = 300;
  CHECK(fault.Caret().find('^') != std::string::npos);
  fault.source = "";
  CHECK(fault.Caret() == "");
}

}  // namespace TEST_FILE
}  // namespace whyoom
