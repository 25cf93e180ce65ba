// A rule that is generated from a message recognises it, also with other figures.
#include "rules/new_rule.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/rule_test.h"
#include "input/error.h"
#include "rules/rule_set.h"

namespace whyoom {
namespace TEST_FILE {

using nlohmann::json;

RuleSet Load(const std::string& text) {
  std::vector<Fault> faults;
  RuleSet rules = RuleSet::Load({{"new.json", text}}, &faults, RuleSet::BuiltInData::kChecked);
  for (const Fault& fault : faults) UNSCOPED_INFO(fault.ToString());
  CHECK(faults.empty());
  return rules;
}

// The rule with the shortest header pattern.
std::string RuleText(const std::vector<std::string>& message, const std::string& code = "my.pool") {
  return NewRules(BuiltInRules(), {code, {message}, ""}).at(0).text;
}

json Entry(const std::vector<std::string>& message) { return json::parse(RuleText(message))["failures"][0]; }

// The header pattern and the example's facts for a message of one line.
std::string HeadOf(const std::string& message) { return Entry({message})["heads"][0]["pattern"]; }
std::string FactsOf(const std::string& message) {
  return Entry({message})["examples"]["match"][0].value("facts", json::object()).dump();
}

TEST_CASE("a new rule passes its own test", "[rules][slow]") {
  const std::vector<std::vector<std::string>> messages = {
      {"Pool 'weights' is full: wanted 12.50G (3 pieces), 10.00 GiB at 0xff00 (a+b) are left"},
      {"cannot map 4096 bytes of \"cache 7\" [shard]", "", "   high water mark: 1.62GiB of 2G"},
      {"arena\tfrobnicator gave up * again."},
      {"E1300: CompileTimeSharedMemOom: Shared memory of core 3 holds 12.5M, the program needs 14.25M."},
      {"launcher: it's full (a+b) [x] at C:\\dir\\pool?"},
      {"it\xEF\xBF\xBDs a caf\xC3\xA9 with no room for 5G"},
      {"\xE5\x86\x85\xE5\xAD\x98\xE4\xB8\x8D\xE8\xB6\xB3 out of pool pages"}};
  for (const auto& message : messages) {
    CAPTURE(message[0]);
    const RuleTestResult result = TestRules(Load(RuleText(message)));
    CHECK(result.Failures() == std::vector<std::string>());
    CHECK(result.validated > TestRules(BuiltInRules()).validated);
  }
}

TEST_CASE("a new rule generalises values that change between runs", "[rules]") {
  const RuleSet rules = Load(RuleText({"Pool 'weights' is full: wanted 12.50G, try 3"}));
  REQUIRE(rules.FindFailure("my.pool") != nullptr);
  const Failure& failure = *rules.FindFailure("my.pool");
  PatternMatch match;
  REQUIRE(failure.header_patterns.at(0).pattern.Find("x Pool 'ids' is full: wanted 1.5K, try 77", 0, &match));
  CHECK(match.captures.at(0).name == "used_bytes");
  CHECK(match.captures.at(0).value == Value(1536.0));
  CHECK(failure.header_patterns.at(0).pattern.Find("x Pool \\'ids\\' is full: wanted 1.5K, try 77", 0, &match));
  CHECK_FALSE(failure.header_patterns.at(0).pattern.Find("Pool 'ids' is empty: wanted 1.5K, try 77", 0, &match));
}

TEST_CASE("values of keys, paths, hosts, ids and numbers are generalised", "[rules]") {
  CHECK(HeadOf("launcher refused bf16[8,128] on v5e, see error E1300 please") ==
        R"(launcher refused \w+\[[\d,]*\]\S* on v5e, see error E1300 please)");
  CHECK(HeadOf("staging of /home/me/job/x.bin on rank17 was refused") == R"(staging of \S+ on rank\d+ was refused)");
  CHECK(HeadOf("worker host-3.example.net lost its arena, job=train-8841 attempt=2") ==
        R"(worker [\w.-]+ lost its arena, job=[^\s,;)\]}]+ attempt=[^\s,;)\]}]+)");
  CHECK(HeadOf("arena 7f3a91c2-11ee-4b5d-9c0d-0242ac120002 gave up after 31 tries") ==
        R"(arena [\w-]+ gave up after \d+ tries)");
  CHECK(HeadOf("worker can't grow pool 'act' now") ==
        R"(worker can\W{1,3}t grow pool \W{1,3}[^'"]{1,200}?\W{1,3} now)");
  CHECK(HeadOf("arena of tpu-7f3a-xk2p refused req-9f8e7d6c at 2026-11-03T10:11:12Z") ==
        R"(arena of [\w-]+ refused [\w-]+ at \S+[ T]?\S+)");
}

TEST_CASE("a traceback is reduced to its exception", "[rules]") {
  const json entry = Entry({"Traceback (most recent call last):", "  File \"a.py\", line 3, in <module>",
                            "    reserve(n)", "DeviceBufferError: cannot reserve a slab of 3.00G"});
  CHECK(entry["heads"][0]["pattern"] == "cannot reserve a slab of %{size:figure_1}");
}

TEST_CASE("sizes are named after adjacent words, or else numbered", "[rules]") {
  CHECK(HeadOf("arena pool used 3.00G of 2.00G") == "arena pool used %{size:used_bytes} of %{size:limit_bytes}");
  CHECK(HeadOf("There are 15.31M free in the staging pool") == "There are %{size:free_bytes} free in the staging pool");
  CHECK(FactsOf("launcher: attempting to allocate 1228800001 over limit 1073741824") ==
        R"({"limit_bytes":1073741824,"request_bytes":1228800001})");
  // A word belongs to the size behind it.
  CHECK(FactsOf("slab pool full: asked 3GiB, limit 2GiB") ==
        R"({"limit_bytes":2147483648,"request_bytes":3221225472})");
  CHECK(FactsOf("arena: requested=3GiB total=2GiB free=1GiB") ==
        R"({"free_bytes":1073741824,"limit_bytes":2147483648,"request_bytes":3221225472})");
  CHECK(FactsOf("arena: need 3GiB, have 1GiB, limit 4GiB") ==
        R"({"free_bytes":1073741824,"limit_bytes":4294967296,"used_bytes":3221225472})");
  CHECK(FactsOf("dma rings: 32.000KB, high water mark: 1.5K") == R"({"figure_1":32768,"figure_2":1536})");
  CHECK(RuleText({"dma rings: 32.000KB, high water mark: 1.5K"}).find("do not identify figure_1") != std::string::npos);
  CHECK(FactsOf("Compilation of 'jit_step' aborted: HBM budget of 15.75G exceeded, program requires 21.50G (5.75G over "
                "budget).") ==
        R"({"excess_bytes":6174015488,"limit_bytes":16911433728,"module":"jit_step","used_bytes":23085449216})");
  // What is said of both sizes is true of the first; the second is the limit.
  CHECK(FactsOf("arena: 37.5 MiB of 15.75 GiB left, wanted 1GiB") ==
        R"({"free_bytes":39321600,"limit_bytes":16911433728,"used_bytes":1073741824})");
  CHECK(FactsOf("arena full: 14.25 GiB/12.00 GiB") == R"({"limit_bytes":12884901888,"used_bytes":15300820992})");
  CHECK(HeadOf("arena full: 14.25/12.00 GiB") == R"(arena full: [\d.]*/%{size:limit_bytes})");
  CHECK(FactsOf("arena: 3.5 GiB free, 12.0 GiB total, 8 GiB requested") ==
        R"({"free_bytes":3758096384,"limit_bytes":12884901888,"request_bytes":8589934592})");
  CHECK(FactsOf("arena is full: need 3.00 GiB more") == R"({"excess_bytes":3221225472})");
  // The names would contradict each other, so none is used.
  CHECK(FactsOf("the budget of 15.75G is exceeded, program requires 21.50G (1.00G over budget)") ==
        R"({"figure_1":16911433728,"figure_2":23085449216,"figure_3":1073741824})");
}

TEST_CASE("differences between two messages are generalised", "[rules]") {
  const std::vector<std::string> one = {"arena alpha of the stager gave up: wanted 3.00G"};
  const std::vector<std::string> other = {"arena beta two of the stager gave up: wanted 9.25G"};
  const json entry = json::parse(NewRules(BuiltInRules(), {"my.pool", {one, other}, ""}).at(0).text)["failures"][0];
  CHECK(entry["heads"][0]["pattern"] == "arena .{0,200}?of the stager gave up: wanted %{size:used_bytes}");
  CHECK(entry["examples"]["match"].size() == 2);
}

TEST_CASE("a code before the message becomes a header pattern and an alias", "[rules]") {
  const json entry =
      Entry({"jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: E1300: CompileTimeSharedMemOom: Shared "
             "memory holds 12.5M, the program needs 14.25M."});
  CHECK(entry["aliases"] == json::array({"CompileTimeSharedMemOom"}));
  CHECK(entry["heads"][0]["pattern"] == "Shared memory holds %{size:figure_1}, the program needs %{size:used_bytes}");
  CHECK(entry["heads"][1]["pattern"] == "\\bE1300: CompileTimeSharedMemOom");
  CHECK(entry["heads"][1]["fragment"] == true);
}

TEST_CASE("a new rule derives need and limit only if they conflict", "[rules]") {
  const json entry = Entry({"arena pool used 3.00G of 2.00G"});
  CHECK(entry["derived"] == json::parse(R"([{"fact": "need_bytes", "from": "used_bytes"},
                                            {"fact": "have_bytes", "from": "limit_bytes"}])"));
  CHECK_FALSE(Entry({"arena pool used 1.00G of 2.00G, and broke"}).contains("derived"));
  CHECK(Entry({"nothing is told of arena pools"})["identity"] == json::array());
}

TEST_CASE("a new wording of a known failure uses its names of facts", "[rules]") {
  const json file = json::parse(RuleText({"launcher: program needs 20.00G, device has 15.75G"}, "E1000"));
  CHECK_FALSE(file.contains("failures"));
  const json& extension = file["extensions"][0];
  CHECK(extension["extends"] == "E1000");
  CHECK(extension["heads"][0]["pattern"] ==
        "launcher: program needs %{size:used_bytes}, device has %{size:limit_bytes}");
  CHECK(extension["heads"][0]["id"] == "ours");
  CHECK_FALSE(extension.contains("derived"));
  CHECK(extension["examples"]["match"][0]["facts"]["used_bytes"] == 21474836480);
  CHECK(TestRules(Load(file.dump())).ok());
}

TEST_CASE("drafts go from the shortest header pattern to the longest", "[rules]") {
  const std::vector<NewRule> rules =
      NewRules(BuiltInRules(), {"my.pool", {{"ValueError: the arena gave up. It had 3 pools. Ask for less."}}, ""});
  REQUIRE(rules.size() == 3);
  CHECK(rules[0].header_patterns[0].source() == "the arena gave up");
  CHECK(rules[1].header_patterns[0].source() == R"(the arena gave up\. It had \d+ pools)");
  CHECK(rules[2].header_patterns[0].source() == R"(ValueError: the arena gave up\. It had \d+ pools)");
}

TEST_CASE("a new rule needs a message with words", "[rules]") {
  CHECK_THROWS_AS(RuleText({}), Error);
  CHECK_THROWS_AS(RuleText({"", " \t"}), Error);
  CHECK_THROWS_AS(RuleText({"12345 678 9.5G"}), Error);
  CHECK_THROWS_AS(RuleText({"''\"\\ $^*"}), Error);
}

}  // namespace TEST_FILE
}  // namespace whyoom
