// Fields of a record are omitted if they are empty, and rejected if they do not match their description.
#include "report/record/fields.h"

#include <string>
#include <vector>

#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

enum class Way { kHere, kMatched };

struct Inner {
  std::int64_t size = 0;
};

void Describe(auto& v, RecordOf<Inner> auto& inner) { v.Maybe("size", inner.size); }

struct Sample {
  std::string path;
  std::uint64_t count = 0;
  int rank = 0;
  std::optional<std::int64_t> saved;
  std::optional<double> factor;
  bool sure = false;
  Way way = Way::kHere;
  std::vector<std::string> names;
  std::map<std::string, std::uint64_t> lines;
  std::optional<Timestamp> time;
  Inner inner;
};

void Describe(auto& v, RecordOf<Sample> auto& sample) {
  v.Need("path", sample.path);
  v.Need("count", sample.count);
  v.Maybe("rank", sample.rank);
  v.Maybe("saved", sample.saved);
  v.Maybe("factor", sample.factor);
  v.Maybe("sure", sample.sure);
  v.Need("way", sample.way, {.one_of = "here there"});
  v.Maybe("names", sample.names);
  v.Maybe("lines", sample.lines);
  v.Maybe("time", sample.time);
  v.Maybe("inner", sample.inner);
  v.Show("shown", [&] { return sample.path.size(); });
}

nlohmann::json Written(const Sample& sample) { return nlohmann::json::parse(LineOf(ToRecord(sample))); }

TEST_CASE("an empty field is absent", "[report]") {
  Sample sample;
  sample.rank = 0;
  CHECK(Written(sample) == nlohmann::json::parse(R"({"path": "", "count": 0, "way": "here", "shown": 0})"));
}

TEST_CASE("a record is read back as it was written", "[report]") {
  Sample sample{"a", 7, 2, -3, 1.5, true, Way::kMatched, {"b"}, {{"c", 4}}, Timestamp{5, true}, {6}};
  const nlohmann::json json = Written(sample);
  CHECK(json["time"] == "1970-01-01T00:00:00.000005Z");
  const std::optional<Sample> read = FromRecord<Sample>(json);
  REQUIRE(read);
  CHECK(read->path == sample.path);
  CHECK(Written(*read) == json);
}

TEST_CASE("missing and invalid values are rejected", "[report]") {
  const nlohmann::json good = nlohmann::json::parse(R"({"path": "a", "count": 1, "way": "here"})");
  CHECK(FromRecord<Sample>(good));
  CHECK_FALSE(FromRecord<Sample>(nlohmann::json::array()));
  CHECK_FALSE(FromRecord<Sample>(nlohmann::json()));
  for (const char* key : {"path", "count", "way"}) {
    nlohmann::json less = good;
    less.erase(key);
    CHECK_FALSE(FromRecord<Sample>(less));
  }
  const std::vector<std::pair<std::string, nlohmann::json>> wrong = {
      {"path", 1},
      {"count", -1},
      {"count", 1.0},
      {"rank", 3000000000U},
      {"rank", -2},
      {"saved", 1.5},
      {"factor", "2"},
      {"sure", 1},
      {"way", "nowhere"},
      {"way", 0},
      {"names", "b"},
      {"names", {1}},
      {"lines", {1}},
      {"lines", {{"c", "d"}}},
      {"time", "yesterday"},
      {"time", "2026-02-30T00:00:00"},
      {"time", "2026-02-03 00:00:00"},
      {"inner", 5},
      {"inner", {{"size", ""}}},
  };
  for (const auto& [key, value] : wrong) {
    nlohmann::json changed = good;
    changed[key] = value;
    INFO(changed);
    CHECK_FALSE(FromRecord<Sample>(changed));
  }
  nlohmann::json large = good;
  large["saved"] = 9223372036854775807U;
  CHECK(FromRecord<Sample>(large)->saved == 9223372036854775807);
  large["saved"] = 9223372036854775808U;
  CHECK_FALSE(FromRecord<Sample>(large));
}

TEST_CASE("times are read back", "[report]") {
  for (const char* time : {"2026-11-20T12:00:00.123456Z", "2026-11-20T12:00:00"}) {
    const nlohmann::json json = {{"path", ""}, {"count", 1U}, {"way", "there"}, {"time", time}};
    const std::optional<Sample> read = FromRecord<Sample>(json);
    REQUIRE(read);
    CHECK(ToString(*read->time) == time);
  }
}

}  // namespace TEST_FILE
}  // namespace whyoom
