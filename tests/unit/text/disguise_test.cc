// No line of a report changes on its way from the job to the user, whatever is put around it.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "catch.h"
#include "input/line_scanner.h"
#include "text/normalizer.h"
#include "unit/text/rule_affixes.h"

namespace whyoom {
namespace TEST_FILE {

using Lines = std::vector<std::string>;

const Lines& Report() {
  static const Lines report = {
      "Traceback (most recent call last):",
      "  File \"/home/a/train.py\", line 12, in <module>",
      "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom:",
      "XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 22.89G of 15.75G hbm. Exceeded hbm "
      "capacity by 7.14G.",
      "",
      "Total hbm usage >= 23.14G:",
      "    reserved        258.00M ",
      "    program          22.89G ",
      "    arguments            0B ",
      "",
      "Output size 0B; shares 0B with arguments.",
      "",
      "Program hbm requirement 22.89G:",
      "    global           132.0K",
      "    HLO temp         22.89G (98.6% utilization: Unpadded (624.13M) Padded (22.57G), 1.4% fragmentation "
      "(327.66M))",
      "",
      "  Largest program allocations in hbm:",
      "",
      "  1. Size: 11.44G",
      "     Operator: op_type=\"mul\" op_name=\"jit(t)/mul[ dimension=4\\n  ]\" source_file=\"/home/a/train.py\" "
      "source_line=9",
      "     Shape: f32[11999232,4,2]{1,2,0:T(2,128)S(5)}",
      "     Unpadded size: 366.19M",
      "     Extra memory due to padding: 11.08G (32.0x expansion)",
      "     XLA label: %fusion.7 = f32[11999232,4,2]{1,2,0:T(2,128)} fusion(%bitcast.3406), kind=kLoop",
      "     Allocation type: HLO temp",
      "     ==========================",
      "",
      "  2. Size: 2.32G",
      "     Operator: op_name=\"params_and_buffers[\\'w\\']\" stack_frame_id=459",
      "     XLA label: register allocator spill slots call depth 2",
      "     Allocation type: scoped",
  };
  return report;
}

std::string Clock(std::size_t n) {
  char text[64];
  std::snprintf(text, sizeof text, "2026-11-20T12:%02zu:%02zu.%06zu", n / 60 % 60, n % 60, n * 7919 % 1000000);
  return text;
}

std::string Number(std::size_t n, int width, char fill) {
  std::string text = std::to_string(n);
  while (text.size() < static_cast<std::size_t>(width)) text.insert(text.begin(), fill);
  return text;
}

std::string Escaped(const std::string& text, const std::string& quoted) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') {
      escaped += "\\n";
    } else {
      if (c == '\\' || quoted.find(c) != std::string::npos) escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

std::string Joined(const Lines& lines) {
  std::string log;
  for (const std::string& line : lines) log += line + "\n";
  return log;
}

// All cleaned lines of a log.
std::vector<Line> Read(const std::string& log) {
  const auto source = OpenMemory(log, 997);
  const Prefilter prefilter({"unused"});
  LineScanner scanner(*source, prefilter, {});
  std::vector<Line> lines;
  RawLine raw;
  RecordJoiner records;
  const auto read = [&](const std::optional<RawLine>& whole) {
    if (whole) RuleNormalizer().Normalize(*whole, &lines);
  };
  while (scanner.Next(true, &raw)) read(records.Feed(raw));
  read(records.Flush());
  return lines;
}

Lines ReadTexts(const std::string& log) {
  Lines texts;
  for (const Line& line : Read(log)) texts.push_back(line.text);
  return texts;
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// An HTML page shows the line as it is.
std::string Html(const std::string& line) {
  return Replaced(Replaced(Replaced(Replaced(line, "&", "&amp;"), ">", "&gt;"), "<", "&lt;"), "\"", "&quot;");
}

using Rewrite = std::function<std::string(std::size_t, const std::string&)>;

std::string EachLine(const Rewrite& rewrite) {
  Lines lines;
  for (std::size_t n = 0; n < Report().size(); ++n) lines.push_back(rewrite(n, Report()[n]));
  return Joined(lines);
}

Rewrite Prefixed(const std::string& prefix) {
  return [prefix](std::size_t, const std::string& line) { return prefix + line; };
}

TEST_CASE("every disguise is removed from every line", "[text]") {
  const std::vector<std::pair<std::string, Rewrite>> disguises = {
      {"plain", Prefixed("")},
      {"crlf", [](std::size_t, const std::string& line) { return line + "\r"; }},
      {"ansi", [](std::size_t n,
                  const std::string& line) { return "\x1b[2m" + Clock(n) + "\x1b[0m \x1b[31m" + line + "\x1b[0m"; }},
      {"glog",
       [](std::size_t n, const std::string& line) {
         return "E1120 12:" + Number(n / 60, 2, '0') + ":" + Number(n % 60, 2, '0') + "." +
                Number(n * 7919 % 1000000, 6, '0') + " " + Number(4000 + n % 3, 7, ' ') +
                " pjrt_client.cc:" + std::to_string(100 + n) + "] " + line;
       }},
      {"timestamp", [](std::size_t n, const std::string& line) { return Clock(n) + "Z " + line; }},
      {"python_logging",
       [](std::size_t n, const std::string& line) {
         return "2026-11-20 12:00:" + Number(n % 60, 2, '0') + "," + Number(n, 3, '0') + " - trainer - ERROR - " + line;
       }},
      {"ray", Prefixed("\x1b[36m(TrainWorker pid=70231, ip=10.0.3.7)\x1b[0m ")},
      {"k8s",
       [](std::size_t n, const std::string& line) { return "[pod/train-abc12/worker] " + Clock(n) + "123Z " + line; }},
      {"cri", [](std::size_t n, const std::string& line) { return Clock(n) + "123Z stderr F " + line; }},
      {"srun", Prefixed("3: ")},
      {"torchrun", Prefixed("[default0]:")},
      {"mpirun", Prefixed("[1,0]<stderr>:")},
      {"syslog", Prefixed("Nov 20 12:00:05 tpu-vm-3 train.sh[8123]: ")},
      {"vllm", Prefixed("(EngineCore_DP0 pid=896988) ERROR 02-10 19:23:35 [core.py:2498] ")},
      {"tensorflow",
       Prefixed("2020-05-04 09:05:40.719785: E    1578 tensorflow/compiler/xla/xla_client/xla_util.cc:76] ")},
      {"quote", Prefixed("> > ")},
      {"markdown", Prefixed("> **[rank3]** ")},
      {"compose", Prefixed("worker-0  | ")},
      {"jenkins", Prefixed("[2026-11-20T12:00:00.000Z] [rank3]: ")},
      {"json_lines",
       [](std::size_t n, const std::string& line) {
         return R"({"insertId": "a1", "resource": {"type": "k8s_container"}, "textPayload": ")" + Escaped(line, "\"") +
                R"(\n", "timestamp": ")" + Clock(n) + "Z\"}";
       }},
      {"docker_json",
       [](std::size_t, const std::string& line) {
         return R"({"log":")" + Escaped(line, "\"") + R"(\n","stream":"stderr"})";
       }},
      {"docker_json_of_glog",
       [](std::size_t, const std::string& line) {
         return R"({"log":"\u001b[36m(pid=, ip=10.68.9.4)\u001b[0m I0320 12:00:00.1 2163 deepsea.cc:2163] )" +
                Escaped(line, "\"") + R"( [repeated 5x across cluster]\n"})";
       }},
      {"notebook", [](std::size_t, const std::string& line) { return "      \"" + Escaped(line, "\"") + "\\n\","; }},
      {"html", [](std::size_t, const std::string& line) { return Replaced(Html(line), "'", "&#39;"); }},
      {"journald_bytes",
       [](std::size_t, const std::string& line) {
         std::string bytes = "27,91,49,109";  // bold
         for (const char c : line) bytes += "," + std::to_string(c);
         return R"({"__REALTIME_TIMESTAMP":"1795176000000000","MESSAGE":[)" + bytes + R"(],"_PID":"42"})";
       }},
  };
  for (const auto& [name, rewrite] : disguises) {
    CAPTURE(name);
    CHECK(ReadTexts(EachLine(rewrite)) == Report());
  }
}

TEST_CASE("a report in one escaped line is split into its lines", "[text]") {
  std::string whole = Joined(Report());
  whole.pop_back();
  Lines expected = Report();
  expected.insert(expected.begin(), "ERROR worker failed: ");
  // repr() escapes single quotes only if the text contains both kinds, as this one does.
  CHECK(ReadTexts("ERROR worker failed: '" + Escaped(whole, "'") + "'\n") == expected);
  CHECK(ReadTexts("ERROR worker failed: \"" + Escaped(whole, "\"") + "\"\n") == expected);
  CHECK(ReadTexts("[rank3] ERROR worker failed: '" + Escaped(whole, "'") + "'\n") == expected);
  CHECK(ReadTexts("{\"message\": \"" + Escaped(whole + "\n", "\"") + "\"}\n") == Report());
  const std::string twice = Escaped("{\"message\": \"" + Escaped(whole, "\"") + "\"}", "\"");
  CHECK(ReadTexts("{\"log\": \"" + twice + "\"}\n") == Report());
}

// Joins the lines, each rewritten.
std::string JoinedBy(const std::string& separator, const std::function<std::string(const std::string&)>& rewrite = {}) {
  std::string joined;
  for (const std::string& line : Report())
    joined += (joined.empty() ? "" : separator) + (rewrite ? rewrite(line) : line);
  return joined;
}

TEST_CASE("collectors that put a report into one line or document do not hide its lines", "[text]") {
  const auto quoted = [](const std::string& line) { return "\"" + Escaped(line, "\"") + "\""; };
  const auto fed = [](const std::string& line) { return "\"" + Escaped(line, "\"") + "\\n\""; };
  const auto percent = [](const std::string& line) { return Replaced(line, "%", "%25"); };
  const std::string notebook = R"({"cells": [{"outputs": [{"name": "stderr", "output_type": "stream", "text": [)";
  const std::vector<std::pair<std::string, std::string>> logs = {
      {"rsyslog", "Nov 20 12:00:05 tpu-vm-3 train.sh[8123]: " + JoinedBy("#012")},
      {"github", "::error::" + JoinedBy("%0A", percent)},
      {"github, CRLF", "::error file=a.py,line=3::" + JoinedBy("%0D%0A", percent)},
      {"U+2028", JoinedBy("\xE2\x80\xA8")},
      {"U+2029", JoinedBy("\xE2\x80\xA9")},
      {"U+0085", JoinedBy("\xC2\x85")},
      {"array in one line", "[" + JoinedBy(", ", quoted) + "]"},
      {"array", "[\n  " + JoinedBy(",\n  ", quoted) + "\n]"},
      {"notebook in one line", notebook + JoinedBy(", ", fed) + "]}]}]}"},
      {"notebook", Replaced(notebook, "[", "[\n") + "\n" + JoinedBy(",\n", fed) + "\n]\n}\n]\n}\n]\n}"},
  };
  for (const auto& [name, log] : logs) {
    CAPTURE(name);
    const Lines texts = ReadTexts(log + "\n");
    const auto begin = std::find_if(texts.begin(), texts.end(),
                                    [](const std::string& text) { return text.ends_with(Report().front()); });
    REQUIRE(texts.end() - begin >= static_cast<std::ptrdiff_t>(Report().size()));
    CHECK(Lines(begin + 1, begin + static_cast<std::ptrdiff_t>(Report().size())) ==
          Lines(Report().begin() + 1, Report().end()));
  }
}

TEST_CASE("an item of a JSON array is a quotation unless the line contains lines of a log", "[text]") {
  const auto written = [](const std::string& log) { return Read(log).back().written.text; };
  const std::string item = R"("RuntimeError: RESOURCE_EXHAUSTED: no room")";
  CHECK(written("{\"retry_on\": [" + item + "]}\n") == "{\"retry_on\": [" + item + "]}");
  CHECK(written("{\"lines\": [\"  File \\\"a.py\\\", line 3\", " + item + "]}\n").empty());
}

TEST_CASE("binary lines around a report do not change it", "[text]") {
  const auto lines = Read("\x80\xFF not text \x80\x81\n" + Joined(Report()) + "\xC3\x28\n");
  REQUIRE(lines.size() == Report().size() + 2);
  for (std::size_t i = 0; i < Report().size(); ++i) CHECK(lines[i + 1].text == Report()[i]);
}

TEST_CASE("JSON records on several lines are read as one", "[text]") {
  for (const bool array : {false, true}) {
    std::string log = array ? "[\n" : "";
    for (const std::string& line : Report()) {
      log += "  {\n    \"resource\": {\n      \"labels\": {\n        \"pod_name\": \"train-0\"\n      }\n    },\n";
      log += "    \"textPayload\": \"" + Escaped(line, "\"") + "\\n\",\n    \"timestamp\": \"2026-11-20T12:00:00Z\"\n";
      log += array && &line != &Report().back() ? "  },\n" : "  }\n";
    }
    if (array) log += "]\n";
    Lines texts;
    for (const Line& line : Read(log)) {
      if (line.stream_name.empty()) continue;  // skip the brackets
      CHECK(line.stream_name == "train-0");
      CHECK(line.time == ParseTimestamp("2026-11-20T12:00:00Z"));
      texts.push_back(line.text);
      // The line number is that of the text, not of the record's first line.
      const std::size_t feeds = static_cast<std::size_t>(
          std::count(log.begin(), log.begin() + static_cast<std::ptrdiff_t>(line.RawOffset(0)), '\n'));
      CHECK(line.number == feeds + 1);
    }
    CHECK(texts == Report());
  }
  std::string line = "[";
  for (const std::string& text : Report()) line += R"({"textPayload": ")" + Escaped(text, "\"") + "\"}, ";
  line.replace(line.size() - 2, 2, "]");
  CHECK(ReadTexts(line + "\n") == Report());
}

TEST_CASE("interleaved ranks are different streams", "[text]") {
  std::string log;
  for (std::size_t n = 0; n < Report().size(); ++n) {
    log += "[rank1] step=" + std::to_string(n) + " loss=2.31\n[rank0] " + Report()[n] + "\n";
  }
  Lines rank0;
  for (const Line& line : Read(log)) {
    REQUIRE((line.stream_name == "rank0" || line.stream_name == "rank1"));
    if (line.stream_name == "rank0") rank0.push_back(line.text);
  }
  CHECK(rank0 == Report());
}

TEST_CASE("offsets map back through every prefix", "[text]") {
  const std::string log = EachLine(Prefixed("\x1b[36m(TrainWorker pid=70231)\x1b[0m E1120 12:00:00.1 1 a.cc:1] "));
  for (const Line& line : Read(log)) {
    for (std::size_t at = 0; at < line.text.size(); ++at) {
      REQUIRE(log[static_cast<std::size_t>(line.RawOffset(at))] == line.text[at]);
    }
  }
}

TEST_CASE("a log after a JSON document that was cut is read as it is", "[text]") {
  // Text outside of strings is no JSON, so nothing of it may be lost.
  for (const std::string start : {"{\n  \"cells\": [\n", "{\n  \"x\"\n", "[\n  \"step 1\\n\",\n"}) {
    CAPTURE(start);
    const Lines texts = ReadTexts(start + Joined(Report()));
    REQUIRE(texts.size() >= Report().size());
    CHECK(Lines(texts.end() - static_cast<std::ptrdiff_t>(Report().size()), texts.end()) == Report());
  }
}

}  // namespace TEST_FILE
}  // namespace whyoom
