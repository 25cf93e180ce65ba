// Fields of allocation rows that rule data defines.
#include <string>

#include "catch.h"
#include "made_rows.h"
#include "unit/rules/rule_data.h"

namespace whyoom {
namespace TEST_FILE {

std::string File(const std::string& fields) {
  return R"({"format": "whyoom.rules/1", "row_fields": {)" + fields + "}}";
}

std::string Faults(const std::string& fields) { return LoadFaults(File(fields)); }

TEST_CASE("a defined row field can use other fields", "[rules]") {
  RuleSet set;
  CHECK(Load({BaseRules()}, {{"user.json", File(R"("is_whole": {"when": "replicated and is_long", "about": "both"},
 "is_long": {"when": "size_bytes > 5", "about": "long"})")}},
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

TEST_CASE("a user's row field can be used wherever built-in ones can", "[rules]") {
  const auto faults = [](const std::string& saves) {
    return LoadFaults(R"({"format": "whyoom.rules/1", "row_fields": {"is_mine": {"when": "dims == 2", "about": "m"}},
 "remedies": [{"id": "r", "title": "t", "safety": "safe", "safe_why": "s", "cost": 1, "gain": "g", "telltale": "t",
   "note": "n", "how": {"jax": ["Do it."]}, "links": [], "saves": ")" +
                      saves + "\"}]}");
  };
  CHECK(faults("if(largest.is_mine, 1, sum_of(size_bytes, is_mine))") == "");
  CHECK(faults("if(is_mine, 1, 2)") ==
        "user.json:3:71: 'is_mine' is a field of a row, but this expression is not evaluated for a row (write "
        "largest.is_mine or use a function over the rows)\n");
  CHECK(faults("count_of(is_mime)") == "user.json:3:77: unknown name 'is_mime' (did you mean 'is_mine'?)\n");
}

TEST_CASE("faults of row fields are reported", "[rules]") {
  CHECK(Faults(R"("size_bytes": {"when": "dims == 2", "about": "a"}, "Is": {"when": "dims == 2", "about": "a"})") ==
        "user.json:1:45: 'size_bytes' is already a field (choose another name for the field)\n"
        "user.json:1:96: 'Is' is not a valid name for a field (use lower-case letters, digits and _)\n");
  CHECK(Faults(R"("is_a": {"when": "is_b", "about": "a"}, "is_b": {"when": "not is_a", "about": "b"})") ==
        "user.json:1:63: the field 'is_a' depends on itself: is_a, is_b, is_a\n");
  CHECK(Faults(R"("is_a": {"when": "used_bytes > 5", "about": "a"})") == "user.json:1:63: unknown name 'used_bytes'\n");
  CHECK(Faults(R"("is_a": {"when": "count_of(dims == 2) > 5", "about": "a"})") ==
        "user.json:1:62: a field of a row cannot use a function over rows (write a term)\n");
  CHECK(Faults(R"("is_a": {"when": "dims == 2"})") != "");
  CHECK(LoadFaults(R"({"format": "whyoom.rules/1", "terms": {"replicated": "1"}})") ==
        "user.json:1:40: 'replicated' is already a field (choose another name for the term)\n");
}

}  // namespace TEST_FILE
}  // namespace whyoom
