#include "text/normalizer.h"

#include <chrono>

#include "catch.h"
#include "input/error.h"
#include "unit/text/rule_affixes.h"

namespace whyoom {
namespace TEST_FILE {

using Lines = std::vector<std::string>;

TEST_CASE("lines of a memory report are unchanged", "[text]") {
  for (const std::string line : {
           "  1. Size: 11.44G",
           "     Operator: op_name=\"jit(t)/foo[ dimension=4\\n  ]\" source_file=\"/home/a/t.py\" source_line=3",
           "     Operator: op_name=\"params_and_buffers[\\'w\\']\" stack_frame_id=459",
           "     XLA label: %fusion.7 = f32[2,3]{1,0:T(8,128)S(5)} fusion(bitcast.3406, \"a\\\\b\"), kind=kLoop",
           "     ==========================",
           "     Extra memory due to padding: 11.08G (32.0x expansion)",
           "Total hbm usage >= 23.14G:",
           ">= 23.14G:",
           "    arguments       unknown size ",
           "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: XLA:TPU compile permanent error.",
           "E1000: CompileTimeHbmOom: Ran out of memory in memory space hbm. Used 22.89G of 15.75G hbm.",
           "ERROR: LoadError: RESOURCE_EXHAUSTED: Attempting to allocate 1.00G.",
           "(0) Resource exhausted: {{function_node __inference_train_function_80576}} Ran out of memory",
           "Program hbm requirement 22.89G:",
           "fusion.7627 = fusion(bitcast.3406, ...)",
           "Attempting to reserve 9.62G at the bottom of memory. Scope: unknown..: while running replica 0",
           "Allocation (size=107374182400) would exceed memory (size=17179869184) :: #allocation7 [shape = "
           "'u8[3,3]{1,0}', "
           "space=hbm, size = 0xffffffffffffffff, tag = 'output of a@{}'] :: <no-hlo-instruction>",
           "\tBuffer 1:",
           "\t\tSize: 1.00GiB",
           "  0%| | 0/12000 [00:00<?, ?it/s]jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: full",
           "| 32 | failed | - | ValueError: XLA:TPU compile permanent error. |",
           "step(**kw) with x ** 2, 2**10, dict(a, **b) and don't",
           "HBM capacity 8.00G:",
           "  Top-of-Memory reserved: 529.00M (     554,696,704 bytes)",
           "-2.55G left",
           "",
       }) {
    CAPTURE(line);
    const auto lines = NormalizeLine(line);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].text == line);
    CHECK(lines[0].stream_name.empty());
    CHECK(lines[0].repeats == 1);
    CHECK(lines[0].RawOffset(line.size()) == 1000 + line.size());
  }
}

TEST_CASE("each prefix and suffix of the rule data is removed from its examples", "[text]") {
  for (const auto& prefix_or_suffix : PrefixAndSuffixData()["affixes"]) {
    CAPTURE(prefix_or_suffix["id"]);
    REQUIRE_FALSE(prefix_or_suffix["examples"].empty());
    for (const auto& example : prefix_or_suffix["examples"]) {
      CAPTURE(example);
      CHECK(Text(JoinedText(example["text"])) == JoinedText(example["leaves"]));
    }
  }
}

TEST_CASE("prefixes identify the stream", "[text]") {
  const auto stream_name = [](std::string_view bytes) { return NormalizeLine(bytes).at(0).stream_name; };
  CHECK(stream_name("[rank0] boom") == "rank0");
  CHECK(stream_name("[rank0]: boom") == "rank0");
  CHECK(stream_name("[default3]:boom") == "default3");
  CHECK(stream_name("3: boom") == "3");
  CHECK(stream_name("[1,0]<stderr>:boom") == "1,0");
  CHECK(stream_name("worker-0  | boom") == "worker-0");
  CHECK(stream_name("(TrainWorker pid=70231, ip=10.0.3.7) boom") == "pid=70231, ip=10.0.3.7");
  CHECK(stream_name("(pid=, ip=10.68.9.4) boom") == "ip=10.68.9.4");
  CHECK(stream_name("2020-10-22 02:48:58 10.128.0.33 [3] boom") == "10.128.0.33 [3]");
  CHECK(stream_name("[pod/train-abc12/worker] 2026-11-20T12:00:00.123456789Z [rank4] boom") ==
        "train-abc12/worker rank4");
  CHECK(stream_name("Nov 20 12:00:05 tpu-vm-3 train.sh[8123]: boom") == "tpu-vm-3 train.sh[8123]");
  CHECK(stream_name("t1v-n-0a1b2c3d-w-3: boom") == "t1v-n-0a1b2c3d-w-3");
  CHECK(stream_name(R"({"resource":{"labels":{"pod_name":"train-0"}},"textPayload":"[rank1] boom\n"})") ==
        "train-0 rank1");
  CHECK(stream_name(R"({"rank":3,"message":"boom"})") == "3");
  // Times and threads do not identify a stream.
  CHECK(stream_name("E1120 12:00:00.272763 140408571025152 error_handling.py:81] boom").empty());
  CHECK(stream_name("2026-11-20T12:00:00.000123Z boom").empty());
  CHECK(stream_name("boom").empty());
}

TEST_CASE("prefixes and records contain the time", "[text]") {
  const auto time = [](std::string_view bytes) {
    const std::optional<Timestamp> known = NormalizeLine(bytes).at(0).time;
    return known ? ToString(*known) : "none";
  };
  CHECK(time("2026-11-20T12:00:00.000123Z boom") == "2026-11-20T12:00:00.000123Z");
  CHECK(time("2026-11-20 12:00:05,005 - trainer - ERROR - boom") == "2026-11-20T12:00:05.005000");
  CHECK(time("[2026-11-20, 12:00:05 UTC] {subprocess.py:93} INFO - boom") == "2026-11-20T12:00:05Z");
  CHECK(time("E20261120 12:00:00.272763    4001 pjrt_client.cc:100] boom") == "2026-11-20T12:00:00.272763");
  CHECK(time("E0000 00:00:1795176000.123456   12345 pjrt_client.cc:100] boom") == "2026-11-20T12:00:00.123456Z");
  CHECK(time("<11>1 2026-11-20T12:00:05.123Z tpu-vm-3 train 8123 - - boom") == "2026-11-20T12:00:05.123000Z");
  CHECK(time("ERROR\t2026-11-20 12:00:05 +0100\tworkerpool0-0\tboom") == "2026-11-20T11:00:05Z");
  CHECK(time(R"({"log":"boom\n","stream":"stderr","time":"2026-11-20T12:00:05.5Z"})") == "2026-11-20T12:00:05.500000Z");
  CHECK(time(R"({"ts":1795176000.25,"msg":"boom"})") == "2026-11-20T12:00:00.250000Z");
  CHECK(time(R"({"timestamp":1795176000123,"message":"boom"})") == "2026-11-20T12:00:00.123000Z");
  // The date is ambiguous or missing.
  CHECK(time("E1120 12:00:00.272763    4001 pjrt_client.cc:100] boom") == "none");
  CHECK(time("Nov 20 12:00:05 tpu-vm-3 train.sh[8123]: boom") == "none");
  CHECK(time("11/20/2026 12:00:05 - ERROR - __main__ - boom") == "none");
  CHECK(time("[12:00:05] boom") == "none");
  CHECK(time(R"({"time":5.0,"data":"boom\n"})") == "none");
  CHECK(time("boom") == "none");
}

TEST_CASE("the first time with a zone wins, else the first time", "[text]") {
  const auto time = [](std::string_view bytes) { return ToString(NormalizeLine(bytes).at(0).time.value()); };
  CHECK(time("2026-11-20T12:00:09Z [rank0]: 2026-11-20T13:00:05+01:00 boom") == "2026-11-20T12:00:09Z");
  CHECK(time("2026-11-20 12:00:09 2026-11-20T13:00:05+01:00 boom") == "2026-11-20T12:00:05Z");
  CHECK(time("[2026-11-20 12:00:09] 2026-11-20 12:00:05,123 - trainer - ERROR - boom") == "2026-11-20T12:00:09");
  CHECK(time(R"({"time":"2026-11-20T12:00:09Z","log":"2026-11-20T12:00:05Z boom\n"})") == "2026-11-20T12:00:09Z");
  CHECK(time(R"({"asctime":"2026-11-20 12:00:09","msg":"2026-11-20T12:00:05Z boom"})") == "2026-11-20T12:00:05Z");
}

TEST_CASE("a suffix contains the number of repeats", "[text]") {
  const auto lines = NormalizeLine("(pid=7, ip=10.0.0.1) boom\x1b[32m [repeated 5x across cluster]\x1b[0m");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].text == "boom");
  CHECK(lines[0].repeats == 5);
  CHECK(lines[0].logged());
  CHECK_FALSE(
      NormalizeLine("boom [repeated 5x across cluster]").at(0).logged());  // a suffix alone does not make it logged
  CHECK(NormalizeLine("boom [repeated 9999999x across cluster]").at(0).repeats == 1000000);
  CHECK(Text("boom [repeated 99999999x across cluster]") == "boom [repeated 99999999x across cluster]");
}

TEST_CASE("escape sequences and control characters are removed from lines", "[text]") {
  CHECK(Text("\x1b[2m2026-11-20T12:00:00.000123\x1b[0m \x1b[1;31m  1. Size: 2.00G\x1b[0m") == "  1. Size: 2.00G");
  CHECK(Text("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x07 end") == "link end");
  CHECK(Text("before\x1b]0;unterminated boom") == "before0;unterminated boom");
  CHECK(Text("a\x1b(Bb\x1b=c\x1b") == "abc");
  CHECK(Text("\xC2\x9B"
             "31mred\xC2\x85") == "red");
  CHECK(Text(std::string_view("a\0b\x07"
                              "c\x7f",
                              6)) == "abc");
  CHECK(Text("\xEF\xBB\xBF"
             "boom\xE2\x80\x8B\xC2\xA0now") == "boom now");
  CHECK(Text("[36m(TrainWorker pid=70231, ip=10.0.3.7)[0m   1. Size") == "  1. Size");
  CHECK(Text("^[[31mboom^[[0m") == "boom");
  CHECK(Text(R"(#033[31ma\033[1mb\x1b[0mc\u001b[0;31m\e[0m)") == "abc");
  CHECK(Text("took [2m 30s], x[5m], f32[8,128]") == "took [2m 30s], x[5m], f32[8,128]");
  CHECK(Text("a\tb") == "a\tb");
}

TEST_CASE("invalid UTF-8 is replaced", "[text]") {
  CHECK(Text("\x80\xFF not text") == "\xEF\xBF\xBD\xEF\xBF\xBD not text");
  CHECK(Text("caf\xC3\xA9 \xC3") == "caf\xC3\xA9 \xEF\xBF\xBD");
  const auto lines = NormalizeLine("\x80\x80 boom");
  CHECK(lines.at(0).RawOffset(lines[0].text.find("boom")) == 1003);
}

TEST_CASE("carriage returns separate the states of a line", "[text]") {
  CHECK(Texts("boom\r") == Lines{"boom"});
  CHECK(Texts("boom\r\r") == Lines{"boom"});
  CHECK(Texts("\r") == Lines{""});
  CHECK(Texts("\r 10%\r 20%\rboom") == Lines{" 10%", " 20%", "boom"});
  CHECK(Texts("50%\r[rank0] boom\r") == Lines{"50%", "boom"});
  CHECK(NormalizeLine("50%\rboom").at(1).RawOffset(0) == 1004);
}

TEST_CASE("Markdown quoting is removed", "[text]") {
  CHECK(Text("> boom") == "boom");
  CHECK(Text("> >     reserved  1G") == "    reserved  1G");
  CHECK(Text(">boom") == "boom");
  CHECK(Text("- **Error**: `RESOURCE_EXHAUSTED: full`") == "Error: RESOURCE_EXHAUSTED: full");
  CHECK(Text("RESO**URCE_EXHAUSTED") == "RESOURCE_EXHAUSTED");
  CHECK(Text("Used **22.89G**, **far** too much") == "Used 22.89G, far too much");
  CHECK(Text("***Exceeded*** capacity") == "Exceeded capacity");
  CHECK(Text("RESOURCE\\_EXHAUSTED f32\\[2\\]") == "RESOURCE_EXHAUSTED f32[2]");
  CHECK(Text("# E1120 12:00:00.272763    4001 a.cc:1] boom") == "boom");
  CHECK(Text("* - # boom") == "boom");
  CHECK(Text("** boom") == "boom");
  CHECK(Text("```") == "");
  CHECK(Text("f(**kw)") == "f(**kw)");
  CHECK(Text("*****") == "*****");
  CHECK(Text("> ```python") == "python");
}

TEST_CASE("HTML references are decoded", "[text]") {
  CHECK(Text("Total hbm usage &gt;= 23.14G:") == "Total hbm usage >= 23.14G:");
  CHECK(Text("&quot;a&quot; &#39;b&#39; &#x27;c&#X27; &lt;d&gt; e&amp;f") == "\"a\" 'b' 'c' <d> e&f");
  CHECK(Text("a&&b &unknown; &#; &#x; &#39") == "a&&b &unknown; &#; &#x; &#39");
  CHECK(Text("&#27;boom&#0;") == " boom ");
  CHECK(Text("&gt; boom") == "boom");
}

TEST_CASE("JSON records yield their texts", "[text]") {
  CHECK(Texts(R"({"log":"    reserved  1G\n","stream":"stderr"})") == Lines{"    reserved  1G"});
  CHECK(Texts(R"({"message":"one\ntwo \"q\" \u00e9\r\nthree\n\n"})") ==
        Lines{"one", "two \"q\" \xC3\xA9", "three", ""});
  CHECK(Texts(R"({"message":"train failed","exc_info":"Traceback\nboom"})") ==
        Lines{"train failed", "Traceback", "boom"});
  CHECK(Texts(R"({"message":"boom","log":"boom"})") == Lines{"boom"});
  CHECK(Texts(R"({"log":"{\"message\":\"[rank0] a\\nb\"}\n"})") == Lines{"a", "b"});
  CHECK(Texts(R"([{"stream_name":"stderr","time":5.0,"data":"boom\n"})") == Lines{"boom"});
  CHECK(Texts(R"(,{"stream_name":"stderr","time":5.0,"data":"boom\n"})") == Lines{"boom"});
  CHECK(Texts(R"(2026-11-20T12:00:00.000000123Z stderr F {"msg":"boom"})") == Lines{"boom"});
  CHECK(Texts(R"({"log":"a &quot; ` b"})") == Lines{"a \"  b"});
  CHECK(Texts("{\"log\":\"\\u001b[31mboom\\u001b[0m\"}") == Lines{"boom"});
  CHECK(Texts(R"({"other":"boom"})") == Lines{R"({"other":"boom"})"});
  CHECK(Texts(R"({"message":{"a":1}})") == Lines{R"({"message":{"a":1}})"});
  CHECK(Texts("{not json}") == Lines{"{not json}"});
  CHECK(Texts(R"({"message":""})") == Lines{""});
}

TEST_CASE("lines are split at escaped line breaks", "[text]") {
  CHECK(Texts(R"(ERROR worker failed: 'boom\n    reserved\n\nend')") ==
        Lines{"ERROR worker failed: ", "boom", "    reserved", "", "end"});
  CHECK(Texts(R"(XlaRuntimeError("it's \"full\"\n\ttab\\ \u00e9 \x41 \q"))") ==
        Lines{"XlaRuntimeError(", "it's \"full\"", "\ttab\\ \xC3\xA9 A \\q"});
  CHECK(Texts(R"(From /job:worker/replica:0/task:0:\nCompilation failure: full\n)") ==
        Lines{"From /job:worker/replica:0/task:0:", "Compilation failure: full"});
  CHECK(Texts(R"(a\r\nb)") == Lines{"a", "b"});
  CHECK(Texts(R"({'message': 'a\nb', 'n': 1})") == Lines{"{'message': ", "a", "b", ", 'n': 1}"});
  // repr() of a text with both kinds of quotes.
  CHECK(Texts(R"x('op_name="params[\\\'w\\\']"\nop_name="jit(t)[ d=4\\n  ]"\nend')x") ==
        Lines{R"(op_name="params[\'w\']")", R"x(op_name="jit(t)[ d=4\n  ]")x", "end"});
  // A notebook's output, and a repr inside a repr.
  CHECK(Text(R"(      "    reserved        204B\n",)") == "    reserved        204B");
  CHECK(Text(R"(      "\u001b[0;31mboom\u001b[0m\n",)") == "boom");
  CHECK(Texts(R"x(RuntimeError("task: E('a\\nb')"))x") == Lines{"RuntimeError(", "task: E(", "a", "b"});
  // Truncated at the start or the end.
  CHECK(Texts(R"({"message": "boom\nsecond li)") == Lines{"{\"message\": ", "boom", "second li"});
  CHECK(Texts(R"(ne two\nthree", "time": 3})") == Lines{"ne two", "three\", \"time\": 3}"});
  // Source code is not split.
  CHECK(Text(R"(    print("RESOURCE_EXHAUSTED\n"))") == R"(    print("RESOURCE_EXHAUSTED\n"))");
}

TEST_CASE("lines split at escaped breaks map back to raw offsets", "[text]") {
  const std::string_view bytes = R"([rank0] E('a\t\nreserved \"b\" end'))";
  const auto lines = NormalizeLine(bytes);
  REQUIRE(lines.size() == 3);
  CHECK(lines[1].RawOffset(0) == 1000 + bytes.find("a\\t"));
  CHECK(lines[2].RawOffset(0) == 1000 + bytes.find("reserved"));
  CHECK(lines[2].RawOffset(lines[2].text.find("end")) == 1000 + bytes.find("end"));
}

TEST_CASE("offsets map back through prefixes, escapes and records", "[text]") {
  for (const std::string_view bytes :
       {"\x1b[36m(TrainWorker pid=70231)\x1b[0m \x1b[31m  1. Size: \x1b[1m2.00G\x1b[0m of all",
        "[rank0] 1\\. **Size**: 2.00G of all", R"({"log":"\u001b[1m 1. \"Size\": 2.00G of all\n"})",
        "> &gt; Size 2.00G of all\r"}) {
    const auto lines = NormalizeLine(bytes);
    REQUIRE(lines.size() == 1);
    CAPTURE(bytes, lines[0].text);
    for (const std::string_view word : {"Size", "2.00G", "all"}) {
      CHECK(lines[0].RawOffset(lines[0].text.find(word)) == 1000 + bytes.find(word));
    }
  }
}

TEST_CASE("number, offset and gap come from the raw line", "[text]") {
  RawLine raw;
  raw.number = 12;
  raw.offset = 34;
  raw.after_gap = true;
  raw.bytes = "a\rb";
  std::vector<Line> lines(1);
  RuleNormalizer().Normalize(raw, &lines);
  REQUIRE(lines.size() == 3);  // appended
  CHECK(lines[1].number == 12);
  CHECK(lines[1].offset == 34);
  CHECK(lines[1].after_gap);
  CHECK_FALSE(lines[2].after_gap);
  CHECK(lines[2].RawOffset(0) == 36);
}

TEST_CASE("invalid prefixes and JSON pointers are rejected", "[text]") {
  CHECK_THROWS_AS(Normalizer({}, {{"no pointer"}, {}, {}}), nlohmann::json::exception);
  std::vector<Line> lines;
  RawLine raw;
  raw.bytes = "[rank0] boom";
  CHECK_THROWS_AS(Normalizer({{"bad", PrefixOrSuffix::Place::kPrefix, "("}}, {}), Error);
  Normalizer({}, {}).Normalize(raw, &lines);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].text == "[rank0] boom");
}

TEST_CASE("hostile lines take linear time", "[text][slow]") {
  std::vector<std::string> lines;
  for (const std::string unit : {"[",
                                 "\\",
                                 "(",
                                 "{\"a\":",
                                 "\x1b]",
                                 "\x1b[",
                                 "> ",
                                 "**",
                                 "&#",
                                 "'",
                                 "\"\\",
                                 "\\\"",
                                 "\\n",
                                 "\r",
                                 "3: ",
                                 "[rank0] ",
                                 "\\\\n'",
                                 "`",
                                 "(**a",
                                 "\x80",
                                 "{",
                                 "[{\"",
                                 "\"message\":\"",
                                 "\x1b]8;;\x07",
                                 "1\\",
                                 "-",
                                 " ",
                                 "op_name=\"",
                                 "\\u",
                                 "E1120 12:00:00 1 a:1] ",
                                 "\\'\"",
                                 "^[[",
                                 "[31m"}) {
    std::string line;
    while (line.size() < (std::size_t{1} << 20)) line += unit;
    lines.push_back(line);
    lines.push_back("{\"message\":\"" + line + "\"}");
  }
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& line : lines) {
    const auto cleaned = NormalizeLine(line);
    CHECK(cleaned.size() >= 1);
    CHECK(cleaned.size() <= (std::size_t{1} << 16) + 8);
    std::size_t size = 0;
    for (const Line& part : cleaned) size += part.text.size();
    CHECK(size <= 3 * line.size());
  }
  // Sixteen MiB take seconds, even under a sanitizer; quadratic time would exceed the limit.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::minutes(2));
}

TEST_CASE("a line keeps its text as written", "[text]") {
  // The text, the written text, and the offset of the letter x in the latter.
  const auto written = [](const std::string& raw) {
    std::string shown;
    for (const Line& line : NormalizeLine(raw))
      shown += line.text + " | " + line.Written() + " | " + std::to_string(line.WrittenAt(line.text.find('x'))) + "\n";
    return shown;
  };
  CHECK(written("step x") == "step x | step x | 5\n");
  CHECK(written("2026-11-20T12:00:00.000123Z   # a `bx`") == "a bx |   # a `bx` | 8\n");
  CHECK(written("    \"# a x\\n\",") == "a x |     \"# a x\\n\", | 9\n");
  CHECK(written("{\"log\": \"* ax\\n\"}") == "ax | * ax | 3\n");
  CHECK(written("say(\"ax\\nbx\")") ==
        "say( | say(\"ax\\nbx\") | 13\nax | say(\"ax\\nbx\") | 6\nbx | say(\"ax\\nbx\") | 10\n");
  // A long line probably contains a whole report, so each of its lines has its own written text.
  const std::string report = "failed: '" + std::string(1200, 'a') + "\\nbx'";
  CHECK(NormalizeLine(report).at(2).Written() == "bx");
}

// See Line::may_continue.
TEST_CASE("the last word of an unterminated line may be incomplete", "[text]") {
  const Normalizer normalizer({}, {});
  const auto may_go_on = [&](const std::string& text, bool open) {
    RawLine raw;
    raw.bytes = text;
    raw.may_continue = open;
    std::vector<Line> lines;
    normalizer.Normalize(raw, &lines);
    return lines.back().may_continue;
  };
  for (const char* text : {"Used 1", "Used 1.", "Used 16.5", "Used 16.5G", "of program jit_st"}) {
    INFO(text);
    CHECK(may_go_on(text, true));
    CHECK_FALSE(may_go_on(text, false));
  }
  for (const char* text : {"", ".", "it failed.", "Used 1 ", "(of 5)", "'f'", "what?", "a;"}) {
    INFO(text);
    CHECK_FALSE(may_go_on(text, true));
  }
}

}  // namespace TEST_FILE
}  // namespace whyoom
