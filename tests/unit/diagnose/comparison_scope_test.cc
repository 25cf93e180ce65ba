// The names that rules can use for two runs and their difference.
#include <map>
#include <string>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/compare.h"
#include "made_rows.h"

using namespace whyoom;

namespace TEST_FILE {

// Fills the placeholders of `text` from a failed run, then one of which a dump shows that it fits.
std::string Note(const std::string& text) {
  Run before;
  before.path = "a.log";
  before.failed = true;
  before.compiles = true;
  before.code = "E1000";
  before.title = "out of memory";
  before.other_failures = 2;
  before.facts.Set("module", std::string("jit_step"), {});
  before.allocations = {MakeRow("f32[8]", 32, "a")};
  for (const auto& [name, bytes] : std::map<std::string, double>{{"need_bytes", 3000},
                                                                 {"excess_bytes", 500},
                                                                 {"limit_bytes", 2500},
                                                                 {"hlo_temp_bytes", 3000},
                                                                 {"arguments_bytes", 0},
                                                                 {"output_bytes", 0}})
    before.facts.Set(name, bytes, {});
  Run after;
  after.path = "b.log";
  after.success = SuccessSign{};
  after.facts.Set("need_bytes", 1000.5, {});
  const RuleSet rules = RulesWith(R"({"format": "whyoom.rules/1", "wording": {"diff.note.names": [
    {"when": "same_job", "text": "names: )" +
                                  text + R"("}]}})");
  for (const std::string& note : Compare(before, after, rules).notes) {
    if (note.starts_with("names: ")) return note.substr(7);
  }
  return "none";
}

TEST_CASE("facts are prefixed with the name of their run", "[diagnose]") {
  CHECK(Note("{before.need_bytes|number} {after.need_bytes|number} {before.module}") == "3000 1000 jit_step");
  CHECK(Note("{if(known(after.module) or known(after.hlo_temp_bytes), 1, 0)}") == "0");
  // Unknown, because the report counts only temporaries.
  CHECK(Note("{if(known(before.arguments_bytes), 1, 0)}") == "0");
}

TEST_CASE("a run has properties besides its facts", "[diagnose]") {
  CHECK(Note("{if(before.failed, 1, 0)} {if(after.failed, 1, 0)} {if(before.measured, 1, 0)} {if(after.measured, 1, "
             "0)}") == "1 0 0 1");
  CHECK(Note("{if(before.ran, 1, 0)} {if(after.ran, 1, 0)} {if(before.compiles, 1, 0)} {if(after.compiles, 1, 0)}") ==
        "0 1 1 0");
  CHECK(Note("{before.code}, {before.title}, {before.path}, {after.path}") == "E1000, out of memory, a.log, b.log");
  CHECK(Note("{before.listed} {after.listed} {before.other_failures} {after.other_failures}") == "1 0 2 0");
  CHECK(Note("{before.over_bytes|number} {after.over_bytes|number}") == "500 -1500");
  CHECK(Note("{if(before.is_at_least, 1, 0)} {if(after.is_at_least, 1, 0)}") == "1 0");
}

TEST_CASE("the comparison has properties", "[diagnose]") {
  CHECK(Note("{if(lists_compared, 1, 0)} {if(same_job, 1, 0)} {verdict} {change}") == "0 1 fits fits_now");
}

}  // namespace TEST_FILE
