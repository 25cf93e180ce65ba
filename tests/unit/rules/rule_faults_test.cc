// Faults in the structure and content of rule files.
#include <algorithm>
#include <string>

#include "catch.h"
#include "unit/rules/rule_data.h"

namespace whyoom {
namespace TEST_FILE {

TEST_CASE("all faults of a file are reported at once, each with its location", "[rules]") {
  CHECK(LoadFaults(R"({
  "format": "whyoom.rules/1",
  "failures": [{
    "code": "X1", "title": "t", "category": "c", "phase": "compiles",
    "heads": [{"pattern": "a long enough head %{size:used_bytes}", "fragmnt": true},
              "short", "unbalanced head ("],
    "absorbed_by": ["E100"],
    "scenarios": [
      {"id": "1", "title": "one", "when": "used_bytes >> 5", "remedies": [{"id": "shardd", "section": "1"}]},
      {"id": "1", "title": "two", "when": "summ_of(1, true) > 2"}],
    "examples": [{"text": "a long enough head 5G", "scenario": "3"}]
  }],
  "remedies": [{
    "id": "r", "title": "t", "safety": "safe", "safe_why": "s", "cost": 9, "gain": "g", "telltale": "t", "note": "n",
    "how": {"jax": ["Takes {used_bytes|bites}."]},
    "links": [{"title": "t", "url": "http://example.com"}]
  }]
})") == "user.json:4:59: 'compiles' is not allowed here (did you mean 'compile'?)\n"
        "user.json:5:68: unknown key 'fragmnt' (did you mean 'fragment'?)\n"
        "user.json:6:15: the pattern, or an alternative of it, has no literal of 6 characters (the prefilter searches "
        "for "
        "one)\n"
        "user.json:6:25: RE2 rejects the pattern: missing )\n"
        "user.json:7:21: unknown code 'E100' (did you mean 'E1000'?)\n"
        "user.json:9:56: expected a number, a text, a name or '(', found '>'\n"
        "user.json:9:82: unknown remedy 'shardd' (did you mean 'shard'?)\n"
        "user.json:10:44: unknown function 'summ_of' (did you mean 'sum_of'?)\n"
        "user.json:11:64: unknown scenario '3' (did you mean '1'?)\n"
        "user.json:14:73: 9 is out of range (allowed: 0 to 6)\n"
        "user.json:15:40: unknown format 'bites' (formats are size, percent, times, number, text, short)\n"
        "user.json:16:37: 'http://example.com' does not match ^https://\n");
}

TEST_CASE("a context without a literal is a fault", "[rules]") {
  CHECK(LoadFaults(R"({
  "format": "whyoom.rules/1",
  "contexts": [{"id": "c", "nearby": true, "patterns": ["abc: \\d", "ab|long enough"],
    "examples": [{"text": "abc: 1"}, {"text": "ab"}]}]
})") == "user.json:3:69: the pattern, or an alternative of it, has no literal of 4 characters (the prefilter searches "
        "for one)\n");
}

TEST_CASE("names that nothing provides are faults", "[rules]") {
  CHECK(LoadFaults(R"({
  "format": "whyoom.rules/1",
  "failures": [{
    "code": "X1", "title": "t", "category": "c", "phase": "run",
    "heads": ["a long enough head %{size:used_bytes}"],
    "facts": ["%{size:limit_bytes} is the limit"],
    "derived": [{"fact": "excess_bytes", "from": "used_bytes - limt_bytes"}],
    "identity": ["moduel"],
    "scenarios": [{"id": "1", "title": "one", "when": "excess_bytes > 0 and total_bytes > 0 and before_bytes > 0",
      "why": [{"text": "A \"{largest.size_byts|size}\" one.", "when": "size_bytes > 0", "at": "used_byte"},
              {"text": "{size_bytes|size} {framework} {largest.name}", "row": "any_of(dtype == 'f32') and rnk == 1"}]}],
    "examples": [{"text": "a long enough head 5G"}]
  }]
})") == "user.json:7:64: unknown name 'limt_bytes' (did you mean 'limit_bytes'?)\n"
        "user.json:8:19: unknown name 'moduel' (did you mean 'module'?)\n"
        "user.json:10:30: unknown name 'largest.size_byts' (did you mean 'largest.size_bytes'?)\n"
        "user.json:10:96: unknown name 'used_byte' (did you mean 'used_bytes'?)\n"
        "user.json:11:107: unknown name 'rnk' (did you mean 'rank'?)\n");
}

TEST_CASE("a remedy can use the facts of every failure", "[rules]") {
  const std::string remedy = R"({"format": "whyoom.rules/1", "remedies": [{
    "id": "r", "title": "t", "safety": "safe", "safe_why": "s", "cost": 1, "gain": "g", "telltale": "t", "note": "n",
    "how": {"jax": ["now"]}, "links": [],
    "saves": "total_bytes + before_bytes + label + )";
  CHECK(LoadFaults(remedy + "1\"}]}") == "");
  CHECK(LoadFaults(remedy + "lable\"}]}") == "user.json:4:52: unknown name 'lable' (did you mean 'label'?)\n");
}

TEST_CASE("a mistake is reported once, although it affects other checks", "[rules]") {
  const std::string begin = R"({"format": "whyoom.rules/1", "failures": [{
    "code": "X1", "title": "t", "category": "c", "phase": "run", )";
  const std::string end = R"(,
    "numbers": ["used_bytes"], "examples": [{"text": "a long enough head 5G"}]}]})";
  // A misspelt key is not also reported as missing, nor are the facts that it would provide.
  CHECK(LoadFaults(begin + R"("heds": ["a long enough head %{size:used_bytes}"])" + end) ==
        "user.json:2:66: unknown key 'heds' (did you mean 'heads'?)\n");
  // The captures of an invalid pattern are known.
  CHECK(LoadFaults(begin + R"("heads": ["a long enough head (%{size:used_bytes}"])" + end)
            .starts_with("user.json:2:77: RE2 rejects the pattern: missing )"));
  // The facts of an unknown context are unknown.
  CHECK(LoadFaults(begin + R"("heads": ["a long enough head"], "contexts": ["remta"])" + end) ==
        "user.json:2:112: unknown context 'remta' (did you mean 'remat'?)\n");
  // If a file cannot be parsed, references are not checked.
  RuleSet set;
  CHECK(Load({BaseRules()},
             {{"a.json", begin + R"("heads": ["a long enough head"], "contexts": ["other"])" + end}, {"b.json", "{"}},
             &set) ==
        "b.json:1:2: not JSON: syntax error while parsing object key - unexpected end of input; expected string "
        "literal\n");
}

TEST_CASE("faults in the structure of a file are reported", "[rules]") {
  CHECK(LoadFaults("[]") == "user.json:1:1: expected an object, found an array\n");
  CHECK(LoadFaults("{}") == "user.json:1:1: the key 'format' is missing\n");
  CHECK(LoadFaults(R"({"format": "whyoom.rules/2"})") ==
        "user.json:1:12: 'whyoom.rules/2' is not allowed here (did you mean 'whyoom.rules/1'?)\n");
  CHECK(LoadFaults(R"({"format": "whyoom.rules/1", "chips": {}, "zzz": 1, "frmeworks": []})") ==
        "user.json:1:39: expected an array\n"
        "user.json:1:43: unknown key 'zzz' (others are $comment, $schema, affixes, contexts, contradictions, "
        "disable, extensions, failures, frameworks, json_logs, lines, quotations, remedies, roles, terms, "
        "versions, wording)\n"
        "user.json:1:53: unknown key 'frmeworks' (did you mean 'frameworks'?)\n");
  CHECK(LoadFaults(R"({"format": "whyoom.rules/1",
 "chips": [{"id": "", "limits": []}, {"id": 5, "limits": ["much"]}, {"limits": ["1G"]}, {"id": "x", "limits": ["much"]}],
 "json_logs": {"text": ["message"]},
 "affixes": [{"id": "a", "place": "front", "pattern": "(", "examples": ["b"]}],
 "quotations": [{"id": "q", "lead": "q"}]})") ==
        "user.json:2:19: the text is empty\n"
        "user.json:2:33: the array is empty (add at least one entry)\n"
        "user.json:2:45: expected a text or an array, found a number\n"
        "user.json:2:59: 'much' is not a size (write it as messages print it: 15.75G)\n"
        "user.json:2:69: the key 'id' is missing\n"
        "user.json:2:112: 'much' is not a size (write it as messages print it: 15.75G)\n"
        "user.json:3:25: 'message' does not match ^/\n"
        "user.json:4:35: 'front' is not allowed here (allowed: prefix, suffix)\n"
        "user.json:4:55: RE2 rejects the pattern: missing ): (\n"
        "user.json:5:17: the key 'examples' is missing\n");
}

TEST_CASE("an alias that another failure uses is a fault", "[rules]") {
  CHECK(LoadFaults(R"({"format": "whyoom.rules/1", "failures": [{
    "code": "X1", "aliases": ["hbm", "HbmOom"], "title": "t", "category": "c", "phase": "run", "heads": ["a long enough head"],
    "examples": [{"text": "a long enough head"}]}]})") ==
        "user.json:2:38: 'HbmOom' already names the failure 'E1000'\n");
}

TEST_CASE("a fault is printed with its location and hint", "[rules]") {
  CHECK(Fault{"a.json", 3, 5, "what", "hint"}.ToString() == "a.json:3:5: what (hint)");
  CHECK(Fault{"a.json", 3, 5, "what", ""}.ToString() == "a.json:3:5: what");
  CHECK(Fault{"a.json", 0, 0, "what", ""}.ToString() == "a.json: what");
}

TEST_CASE("hostile rule files yield faults", "[rules]") {
  const auto starts = [](const std::string& text, const std::string& fault) {
    const std::string faults = LoadFaults(text);
    INFO(faults);
    CHECK(faults.starts_with(fault));
    CHECK(std::count(faults.begin(), faults.end(), '\n') == 1);
  };
  starts("", "user.json:1:1: not JSON: syntax error while parsing value - unexpected end of input");
  starts(std::string("\0\0", 2), "user.json:1:");
  starts("{\"format\": \"\xFF\"}",
         "user.json:1:13: not JSON: syntax error while parsing value - invalid string: ill-formed UTF-8");
  starts(R"({"a": "\d"})", "user.json:1:9: not JSON: syntax error while parsing value - invalid string: forbidden");
  starts("{\"a\": 1,\n\"b\": 2,}",
         "user.json:2:8: not JSON: syntax error while parsing object key - unexpected '}'; expected string literal "
         "(remove the comma before it)");
  starts("\xEF\xBB\xBF{}", "user.json:1:1: the file begins with a byte order mark or contains a NUL");
  CHECK(LoadFaults("{\"chips\":" + std::string(1000, '[')) == "user.json:1:73: nested more than 64 levels deep\n");
  CHECK(LoadFaults("{\"$comment\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}") ==
        "user.json:1:76: nested more than 64 levels deep\n");
  CHECK(LoadFaults("{\"format\": \"" + std::string(10'000'000, 'x') + "\"}") ==
        "user.json:1:1: the file is larger than 4 MiB\n");
  CHECK(LoadFaults("null") == "user.json:1:1: expected an object, found null\n");
  const std::string begin = R"({"format": "whyoom.rules/1", "remedies": [{
    "id": "r", "title": "t", "safety": "safe", "safe_why": "s", "cost": 99999999999999999999, "gain": "g",
    "telltale": "t", "note": "n", "how": {"jax": ["now"]}, "links": [], "saves": ")";
  const std::string nested = LoadFaults(begin + std::string(200, '(') + "\"}]}");
  CHECK(nested ==
        "user.json:2:73: expected an integer, found a number\n"
        "user.json:3:184: nested more than 100 levels deep\n");
  // The number of reported faults is limited.
  std::string many = R"({"format": "whyoom.rules/1", "chips": [0)";
  for (int i = 0; i < 20'000; ++i) many += ",0";
  const std::string faults = LoadFaults(many + "]}");
  CHECK(std::count(faults.begin(), faults.end(), '\n') == 1000);
}

TEST_CASE("truncated or corrupted rule files do not crash", "[rules]") {
  const std::string text = BaseRules().text;
  RuleSet set;
  for (std::size_t i = 0; i < text.size(); i += 97) {
    CHECK(Load({}, {{"x", text.substr(0, i)}}, &set) != "");
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ (i % 2 == 0 ? 0x01 : 0x11));
    Load({}, {{"x", changed}}, &set);
  }
}

}  // namespace TEST_FILE
}  // namespace whyoom
