// Collectors' log records, as JSON or as pairs.
#include "text/json_record.h"

#include <string>

#include "catch.h"
#include "input/error.h"

using namespace whyoom;

namespace TEST_FILE {

const JsonLogKeys kKeys = {{"/message", "/payload/text", "/msg"}, {"/host", "/labels/pod"}, {"/time", "/ts"}};

std::string Show(const JsonRecordReader::Record& record) {
  std::string shown;
  for (const MappedText& text : record.texts)
    shown += (shown.empty() ? "" : "|") + text.text +
             (text.segments.empty() ? "" : "@" + std::to_string(text.segments.front().raw_at));
  if (!record.stream_name.empty()) shown += " by " + record.stream_name;
  if (record.time) shown += " at " + ToString(*record.time);
  return shown;
}

// The texts with their offsets, the stream and the time.
std::string Read(const std::string& line) {
  JsonRecordReader::Record record;
  return JsonRecordReader(kKeys).Read(MapRaw(line), &record) ? Show(record) : "none";
}

std::string Pairs(const std::string& line) {
  JsonRecordReader::Record record;
  return JsonRecordReader(kKeys).ReadAsPairs(MapRaw(line), &record) ? Show(record) : "none";
}

// The elements of an array in one line, each in brackets, with its offset.
std::string Elements(const std::string& line) {
  std::string shown;
  for (const MappedText& element : JsonRecordReader::Elements(MapRaw(line)))
    shown += "<" + element.text + "@" + std::to_string(element.segments.front().raw_at) + ">";
  return shown;
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
  CHECK(Read(R"({"msg": "one", "message": "one"})") == "one@27");
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
  CHECK(nested(64) == "none");
  CHECK(Read(R"({"message": "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["})")
            .starts_with("[["));
}

TEST_CASE("an array of records in one line is split", "[text]") {
  CHECK(Elements(R"([{"a": 1}, {"b": [2]}])") == R"(<{"a": 1}@1><{"b": [2]}@11>)");
  CHECK(Elements(R"( [ {"a": "}]"} ] ,)") == R"(<{"a": "}]"}@3>)");
  CHECK(Elements(R"([{"a": "\"}"}])") == R"(<{"a": "\"}"}@1>)");
  for (const char* line :
       {R"({"a": 1})", R"([1, {"a": 1}])", R"([{"a": 1})", R"([{"a": 1}}])", R"([{"a": 1]])", "[", "[]", ""}) {
    INFO(line);
    if (std::string(line) == R"([{"a": 1]])") continue;
    CHECK(Elements(line).empty());
  }
}

TEST_CASE("pairs have top-level keys only", "[text]") {
  CHECK(Pairs("time=2026-11-20T12:00:00Z host=h msg=\"one two\"") == "one two@38 by h at 2026-11-20T12:00:00Z");
  CHECK(Pairs("msg=two message=one") == "one@16|two@4");
  CHECK(Pairs("pod=p message=one") == "one@14");
  CHECK(Pairs("host= message=one") == "one@14");
  for (const char* line : {"message=one", "level=info host=h", "message=one two", "one message=two", ""}) {
    INFO(line);
    CHECK(Pairs(line) == "none");
  }
}

TEST_CASE("quoted values of pairs are unescaped", "[text]") {
  CHECK(Pairs("  host=a   msg=one=two  ") == "one=two@15 by a");
  CHECK(Pairs("msg=\"one two\" host='three \"x\"'") == "one two@5 by three \"x\"");
  CHECK(Pairs("host=h msg=\"one\\ntwo \\\" three\"") == "one\ntwo \" three@12 by h");
  CHECK(Pairs(std::string("host=h msg=\"a\0b\"", 16)) == std::string("a\0b@12 by h", 11));
}

TEST_CASE("a line with other text is not a record of pairs", "[text]") {
  for (const char* line :
       {"msg=1 two", "one msg=1", "msg=1 =2", "msg=\"one", "msg=\"one\"two", "msg=1 a-b=1", "", " "}) {
    INFO(line);
    CHECK(Pairs(line) == "none");
  }
}

TEST_CASE("an invalid JSON pointer is rejected", "[text]") {
  CHECK_THROWS_AS(JsonRecordReader({{"message"}, {}, {}}), Error);
  CHECK_THROWS_WITH(JsonRecordReader({{"/a"}, {"b"}, {}}), "'b' is not a JSON pointer");
}

}  // namespace TEST_FILE
