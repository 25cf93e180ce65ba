// Collectors' log records.
#include <string>

#include "catch.h"
#include "text/normalizer.h"

using namespace whyoom;

namespace TEST_FILE {

const JsonLogKeys kKeys = {{"/message", "/payload/text", "/msg"}, {"/host", "/labels/pod"}, {"/time", "/ts"}};

std::string Show(const JsonRecord& record) {
  std::string shown;
  for (const MappedText& text : record.texts)
    shown += (shown.empty() ? "" : "|") + text.text +
             (text.segments.empty() ? "" : "@" + std::to_string(text.segments.front().raw_at));
  if (!record.stream_name.empty()) shown += " by " + record.stream_name;
  if (record.time) shown += " at " + ToString(*record.time);
  return shown;
}

// The texts with their offsets, the stream and the time of each record.
std::string Read(const std::string& line) {
  std::string shown;
  for (const JsonRecord& record : JsonRecordReader(kKeys).Read(MapRaw(line)))
    shown += (shown.empty() ? "" : "; ") + Show(record);
  return shown.empty() ? "none" : shown;
}

TEST_CASE("a record yields its text, stream and time", "[text]") {
  CHECK(Read(R"({"message": "one"})") == "one@13");
  CHECK(Read(R"({"time":"2026-11-20T12:00:00Z","host":"h","message":"one"})") == "one@53 by h at 2026-11-20T12:00:00Z");
  CHECK(Read(R"({"payload": {"text": "one"}, "labels": {"pod": "p"}, "ts": 1795176000})") ==
        "one@22 by p at 2026-11-20T12:00:00Z");
  CHECK(Read(R"({"message": "one", "host": 7})") == "one@13 by 7");
  CHECK(Read(R"({"message": "one", "host": "", "labels": {"pod": "p"}, "time": "soon", "ts": "1795176000"})") ==
        "one@13 by p at 2026-11-20T12:00:00Z");
  CHECK(Read(R"({"message": "one", "host": {"a": 1}, "time": [1]})") == "one@13");
  CHECK(Read(R"({"message": "a\nb \u00e9"})") == "a\nb é@13");
}

TEST_CASE("a record yields its distinct texts in the order of the keys", "[text]") {
  CHECK(Read(R"({"msg": "two", "message": "one"})") == "one@27|two@9");
  CHECK(Read(R"({"msg": "one", "message": "one"})") == "one@9");  // where it occurs first
  CHECK(Read(R"({"message": 5, "msg": "two"})") == "two@23");
  // The key also occurs as a value or in a nested object.
  CHECK(Read(R"({"key": "message", "message" : "one"})") == "one@32");
  CHECK(Read(R"({"a": {"message": "x"}, "message": "one"})") == "one@36");
}

TEST_CASE("a record can be alone or a line of an array", "[text]") {
  CHECK(Read(R"(  {"message": "one"},)") == "one@15");
  CHECK(Read(R"([{"message": "one"})") == "one@14");
  CHECK(Read(R"({"message": "one"}])") == "one@13");
  for (const char* line : {R"({"text": "one"})", R"({"message": 5})", R"({"message": "one")", R"("message": "one"})",
                           R"(["message"])", "{}", "", "{", "x {\"message\": \"one\"}"}) {
    INFO(line);
    CHECK(Read(line) == "none");
  }
  const auto nested = [](int depth) {
    return Read(R"({"a": )" + std::string(static_cast<std::size_t>(depth), '[') +
                std::string(static_cast<std::size_t>(depth), ']') + R"(, "message": "one"})");
  };
  CHECK(nested(63).starts_with("one"));
  CHECK(nested(70000).starts_with("one"));
  CHECK(Read(R"({"message": "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["})")
            .starts_with("[["));
}

TEST_CASE("an array of records in one line is split", "[text]") {
  CHECK(Read(R"([{"msg": "one"}, {"message": "two"}])") == "one@10; two@30");
  CHECK(Read(R"( [ {"msg": "}]"} ] ,)") == "}]@12");
  CHECK(Read(R"([{"msg": "\"}"}])") == "\"}@10");
  CHECK(Read(R"([{"msg": "one"}, 5, {"n": 1}])") == "one@10");
  for (const char* line :
       {R"([1, 2])", R"([{"msg": "one")", R"([{"msg": "one"}}])", R"([{"msg": "one"]])", "[", "[]"}) {
    INFO(line);
    CHECK(Read(line) == "none");
  }
}

TEST_CASE("an invalid JSON pointer is rejected", "[text]") {
  CHECK_THROWS_AS(JsonRecordReader({{"message"}, {}, {}}), nlohmann::json::exception);
}

}  // namespace TEST_FILE
