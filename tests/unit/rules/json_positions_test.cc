#include "rules/json_positions.h"

#include <string>

#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

std::string Show(JsonPlace place) { return std::to_string(place.line) + ":" + std::to_string(place.column); }

std::string Faults(const std::string& text) {
  const JsonDocument document = JsonDocument::Parse(text);
  std::string shown;
  for (const JsonFault& fault : document.faults()) {
    shown += Show(document.PlaceAt(fault.offset)) + ": " + fault.what +
             (fault.hint.empty() ? "" : " (" + fault.hint + ")") + "\n";
  }
  return shown;
}

TEST_CASE("parsed JSON equals the result of another parser", "[rules]") {
  const std::string text =
      R"({"a": [1, -2.5, 1e3, true, false, null, "x\n\u00e9\ud83d\ude00\/"], "b": {"": {}}, "c": [], "d": 9007199254740993})";
  const JsonDocument document = JsonDocument::Parse(text);
  CHECK(document.faults().empty());
  CHECK(document.value() == nlohmann::json::parse(text));
}

TEST_CASE("values and keys have positions", "[rules]") {
  const JsonDocument document = JsonDocument::Parse(
      "{\n"
      "  \"a\": [10,\n"
      "    {\"b/c\": \"text\"}],\n"
      "  \"d\" : null\n"
      "}\n");
  REQUIRE(document.faults().empty());
  CHECK(Show(document.PlaceOf("")) == "1:1");
  CHECK(Show(document.PlaceOf("/a")) == "2:8");
  CHECK(Show(document.PlaceOfKey("/a")) == "2:3");
  CHECK(Show(document.PlaceOf("/a/0")) == "2:9");
  CHECK(Show(document.PlaceOf("/a/1")) == "3:5");
  CHECK(Show(document.PlaceOf("/a/1/b~1c")) == "3:13");
  CHECK(Show(document.PlaceOfKey("/a/1/b~1c")) == "3:6");
  CHECK(Show(document.PlaceOf("/d")) == "4:9");
  CHECK(Show(document.PlaceOf("/a/1/missing/deeper")) == "3:5");
  CHECK(PointerToken("a/b~c") == "a~1b~0c");
}

TEST_CASE("bytes inside texts have positions", "[rules]") {
  const JsonDocument document = JsonDocument::Parse(
      "{\"t\": \"ab\\n\\u00e9\\\\d\",\n"
      " \"l\": [\"one\",\n"
      "       \"t\\\\wo\"]}");
  REQUIRE(document.faults().empty());
  CHECK(Show(document.PlaceInText("/t", 0)) == "1:8");
  CHECK(Show(document.PlaceInText("/t", 2)) == "1:10");
  CHECK(Show(document.PlaceInText("/t", 3)) == "1:12");
  CHECK(Show(document.PlaceInText("/t", 5)) == "1:18");
  CHECK(Show(document.PlaceInText("/t", 6)) == "1:20");
  CHECK(Show(document.PlaceInText("/t", 99)) == "1:21");
  // The text is "one t\wo". Its blank joins the strings and is in neither of them.
  CHECK(Show(document.PlaceInText("/l", 1)) == "2:10");
  CHECK(Show(document.PlaceInText("/l", 4)) == "3:9");
  CHECK(Show(document.PlaceInText("/l", 6)) == "3:12");
}

TEST_CASE("JSON syntax errors state what was expected", "[rules]") {
  CHECK(Faults("") == "1:1: expected a value, found the end of the file\n");
  CHECK(Faults("{\n  \"a\": 1,\n}") ==
        "3:1: expected a key in double quotes, found '}' (remove the comma before it)\n");
  CHECK(Faults("[1, ]") == "1:5: expected a value, found ']' (remove the comma before it)\n");
  CHECK(Faults("[1 2]") == "1:4: expected ',' or ']' after a value of an array, found '2'\n");
  CHECK(Faults("{\"a\" 1}") == "1:6: expected ':' after the key 'a', found '1'\n");
  CHECK(Faults("{\"a\": 1 \"b\"") == "1:9: expected ',' or '}' after a value of an object, found '\"'\n");
  CHECK(Faults("{a: 1}") == "1:2: expected a key in double quotes, found 'a'\n");
  CHECK(Faults("{\"a\": tru}") == "1:7: expected a value, found 't'\n");
  CHECK(Faults("{} x") == "1:4: expected the end of the file, found 'x'\n");
  CHECK(Faults("// x\n{}") == "1:1: expected a value, found '/'\n");
  CHECK(Faults("[01]") == "1:2: not a JSON number\n");
  CHECK(Faults("[1.]") == "1:2: not a JSON number\n");
  CHECK(Faults("[-]") == "1:2: not a JSON number\n");
  CHECK(Faults("[\"a\\d\"]") == "1:4: not a JSON escape sequence (write a backslash of a pattern twice: \"\\\\d\")\n");
  CHECK(Faults("[\"\\ud800\"]") ==
        "1:3: not a JSON escape sequence (write a backslash of a pattern twice: \"\\\\d\")\n");
  CHECK(Faults("[\n\"a\n\"]") == "2:1: this string is not closed on its line (close it with a double quote)\n");
  CHECK(Faults("[\"a\tb\"]") == "1:4: a control character inside a string (write it as \\u00XX)\n");
  CHECK(Faults("\xEF\xBB\xBF{}") == "1:1: the file begins with a byte order mark (save it as UTF-8 without one)\n");
}

TEST_CASE("bytes of texts that are split into pieces have positions", "[rules]") {
  // "ab", "c" + "" + "de", "f"
  const JsonDocument document = JsonDocument::Parse(R"({"t": ["ab",
 ["c", "",
  "de"],
 "f"]})");
  const char* places[] = {"1:9", "1:10", "1:11", "2:4", "3:4", "3:5", "3:6", "4:3", "4:4", "4:4"};
  for (std::size_t at = 0; at < 8; ++at) {
    INFO(at);
    CHECK(Show(document.PlaceInText("/t", at)) == places[at]);
  }
}

TEST_CASE("a duplicate key is a fault and the first value is kept", "[rules]") {
  const JsonDocument document = JsonDocument::Parse("{\"a\": 1,\n \"b\": {\"a\": 2}, \"a\": 3}");
  REQUIRE(document.faults().size() == 1);
  CHECK(document.faults()[0].what == "the key 'a' occurs twice in this object");
  CHECK(Show(document.PlaceAt(document.faults()[0].offset)) == "2:17");
  CHECK(document.value().at("a") == 1);
  CHECK(Show(document.PlaceOf("/a")) == "1:7");
}

TEST_CASE("hostile JSON yields faults", "[rules][slow]") {
  CHECK(Faults(std::string(100'000, '[')) == "1:65: nested more than 64 levels deep\n");
  CHECK(Faults(std::string(64, '[') + std::string(64, ']')).empty());
  CHECK(Faults("[1e999]") == "1:2: the number is too large\n");
  CHECK(Faults("[" + std::string(100'000, '9') + "]") == "1:2: the number is too large\n");
  CHECK(Faults(std::string("[\"a\0b\"]", 7)) == "1:4: a control character inside a string (write it as \\u00XX)\n");
  CHECK(Faults(std::string("\0", 1)) == "1:1: expected a value, found a byte that JSON does not allow here\n");
  for (const char* bytes : {"\xFF", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80"}) {
    CHECK(Faults("[\"a" + std::string(bytes) + "\"]") == "1:4: the text is not valid UTF-8\n");
  }
  CHECK(Faults("[\"" + std::string(10'000'000, 'x') + "\"]") == "1:1: the file is larger than 4 MiB\n");
  std::string many = "[0";
  for (int i = 0; i < 600'000; ++i) many += ",0";
  CHECK(Faults(many + "]").find("more than 500000 values") != std::string::npos);
}

TEST_CASE("every prefix of a JSON text yields a fault, not a crash", "[rules]") {
  const std::string text = R"({"a": [1, -2.5e3, true, null, "x\n\u00e9\ud83d\ude00é"], "b": {"c": {}}})";
  for (std::size_t length = 0; length < text.size(); ++length) {
    CHECK_FALSE(JsonDocument::Parse(text.substr(0, length)).faults().empty());
  }
  CHECK(JsonDocument::Parse(text).faults().empty());
}

}  // namespace TEST_FILE
}  // namespace whyoom
