// Rule data about comparisons: notes, wording, thresholds.
#include <string>

#include "catch.h"
#include "unit/rules/rule_data.h"

namespace whyoom {
namespace TEST_FILE {

std::string Section(const std::string& text) { return R"({"format": "whyoom.rules/1",)" + text + "}"; }

// The faults of one note.
std::string Faults(const std::string& section, const std::string& entry) {
  return LoadFaults(Section("\n\"" + section + "\": [{\"id\": " + entry + "}]"));
}

// A run that used 6 bytes, then one that used 4.
class TwoRuns : public Scope {
 public:
  Value Get(std::string_view name) const override {
    return name == "before.used_bytes" ? Value(6.0) : name == "after.used_bytes" ? Value(4.0) : Value(Unknown{});
  }
};

TEST_CASE("notes are sorted by prior and their sentences concatenated", "[rules]") {
  RuleSet set;
  CHECK(Load({BaseRules()}, {{"user.json", Section(R"json("notes": [
    {"id": "a", "prior": 2, "when": "after.used_bytes > 1", "why": [{"text": "late"}]},
    {"id": "b", "prior": 1, "when": "before.failed",
     "why": [{"text": "{before.used_bytes} before"}, {"when": "after.used_bytes > 5", "text": ", no"}, {"text": ", {after.used_bytes} now"},
             {"text": ", {before.limit_bytes}"}]}])json")}},
             &set) == "");
  REQUIRE(set.notes().size() == 2);
  CHECK(set.notes()[0].id == "b");
  CHECK(JoinSentences(set.notes()[0].why, TwoRuns()) == "6 before, 4 now");
}

TEST_CASE("names in notes are checked", "[rules]") {
  CHECK(Faults("notes", R"("n", "when": "before.used_byte > 1", "why": [{"text": "x"}])") ==
        "user.json:2:32: unknown name 'before.used_byte' (did you mean 'before.used_bytes'?)\n");
  // Names of a failure are invalid in comparisons.
  CHECK(Faults("notes", R"("n", "when": "used_bytes > 1", "why": [{"text": "x"}])") ==
        "user.json:2:32: unknown name 'used_bytes'\n");
  CHECK(Faults("notes", R"("n", "when": "same_job", "why": [])") != "");
  CHECK(Faults("notes", R"("n", "when": "same_job", "why": [{"text": "{same_jobs}"}])") ==
        "user.json:2:62: unknown name 'same_jobs' (did you mean 'same_job'?)\n");
}

TEST_CASE("a term about two runs is valid in comparisons only", "[rules]") {
  const std::string term = R"("terms": {"less": "after.used_bytes < before.used_bytes"},)";
  CHECK(LoadFaults(
            Section(term + "\n\"notes\": [{\"id\": \"n\", \"when\": \"less\", \"why\": [{\"text\": \"x\"}]}]")) == "");
  CHECK(LoadFaults(Section(term + R"json(
 "contexts": [{"id": "c", "program": true, "patterns": ["a long literal %{size:my_bytes}"], "derived": [{"fact": "f", "from": "if(less, 1, 2)"}],
   "examples": [{"text": "a long literal 5G"}]}])json")) ==
        "user.json:2:131: the term 'less' uses 'after.used_bytes', which 'context c' does not provide\n"
        "user.json:2:131: the term 'less' uses 'before.used_bytes', which 'context c' does not provide\n");
}

TEST_CASE("wording and thresholds that the program does not use are faults", "[rules]") {
  RuleSet set;
  CHECK(Load({BaseRules()}, {{"user.json", Section(R"(
    "wording": {"diff.total.need_bytes": [{"text": "wanted"}]}, "thresholds": {"worth_telling": {"share": 0.5, "about": "x"}})")}},
             &set) == "");
  CHECK(set.Say("diff.total.need_bytes", TwoRuns()) == "wanted");
  CHECK(set.Say("diff.total.limit_bytes", TwoRuns()) == "");
  CHECK(set.Threshold("worth_telling") == 0.5);
  CHECK(LoadFaults(Section("\n\"wording\": {\"diff.total.need_byte\": [{\"text\": \"wanted\"}]}")) ==
        "user.json:2:13: whyoom does not use 'diff.total.need_byte' in 'wording' (did you mean "
        "'diff.total.need_bytes'?)\n");
  CHECK(LoadFaults(Section("\n\"thresholds\": {\"worth_tellin\": {\"share\": 1, \"about\": \"x\"}}")) ==
        "user.json:2:16: whyoom does not use 'worth_tellin' in 'thresholds' (did you mean 'worth_telling'?)\n");
}

}  // namespace TEST_FILE
}  // namespace whyoom
