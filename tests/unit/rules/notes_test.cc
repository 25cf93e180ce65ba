// Texts that the program looks up: wording, notes on comparisons.
#include <string>

#include "catch.h"
#include "unit/rules/rule_data.h"

namespace whyoom {
namespace TEST_FILE {

std::string File(const std::string& wording) {
  return "{\"format\": \"whyoom.rules/1\", \"wording\": {\n" + wording + "}}";
}

std::string Faults(const std::string& wording) { return LoadFaults(File(wording)); }

// A run that used 6 bytes, then one that used 4.
class TwoRuns : public Scope {
 public:
  Value Get(std::string_view name) const override {
    return name == "before.used_bytes" ? Value(6.0) : name == "after.used_bytes" ? Value(4.0) : Value(Unknown{});
  }
};

TEST_CASE("the sentences that apply are concatenated", "[rules]") {
  RuleSet set;
  CHECK(Load({BaseRules()}, {{"user.json", File(R"json("diff.total.need_bytes": [
    {"text": "{before.used_bytes} before"}, {"when": "after.used_bytes > 5", "text": ", no"},
    {"text": ", {after.used_bytes} now"}, {"text": ", {before.limit_bytes}"}])json")}},
             &set) == "");
  CHECK(set.Say("diff.total.need_bytes", TwoRuns()) == "6 before, 4 now");
  CHECK(set.Say("diff.total.limit_bytes", TwoRuns()) == "");
}

TEST_CASE("names of comparisons are checked", "[rules]") {
  const std::string note = R"("diff.note.mine": [{"when": ")";
  CHECK(Faults(note + R"(before.used_bytes > 1 and after.failed and same_job", "text": "x"}])") == "");
  CHECK(Faults(note + R"(before.used_byte > 1", "text": "{same_jobs}"}])") ==
        "user.json:2:30: unknown name 'before.used_byte' (did you mean 'before.used_bytes'?)\n"
        "user.json:2:63: unknown name 'same_jobs' (did you mean 'same_job'?)\n");
}

TEST_CASE("a text that the program does not use is a fault", "[rules]") {
  CHECK(Faults(R"("diff.total.need_byte": [{"text": "wanted"}])") ==
        "user.json:2:1: whyoom does not use 'diff.total.need_byte' (did you mean 'diff.total.need_bytes'?)\n");
}

}  // namespace TEST_FILE
}  // namespace whyoom
