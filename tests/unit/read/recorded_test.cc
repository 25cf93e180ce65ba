// What is read of the logs in testdata, as they are and as loggers and people hand them on: sightings with all their
// facts and rows, programs, errors that no rule knows. Whether it is right is held by the tests beside this one and by
// the goldens; here all of it is as it was, also where no report shows it. To record it anew after a change:
//
//     WHYOOM_BLESS=1 build/release/tests/whyoom_tests "[recorded]" && git diff testdata/reading.txt
#include "recorded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "process.h"
#include "read/engine.h"
#include "read/sightings.h"
#include "rules/sha256.h"
#include "show.h"

using namespace whyoom;

namespace TEST_FILE {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

Lines LinesOf(const std::string& text) {
  Lines lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// 12:00:00 and some microseconds, a line each.
std::string Clock(std::size_t line) {
  return fmt::format("12:{:02}:{:02}.{:06}", line / 60 % 60, line % 60, line * 7919 % 1000000);
}

std::string Escaped(const std::string& line) {
  std::string escaped;
  for (const char c : line) escaped += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return escaped;
}

std::string EachLine(const std::string& log,
                     const std::function<std::string(std::size_t, const std::string&)>& change) {
  std::string changed;
  const Lines lines = LinesOf(log);
  for (std::size_t i = 0; i < lines.size(); ++i) changed += change(i, lines[i]) + "\n";
  return changed;
}

// Of each pair of lines the first comes from one host, the second from the other, which is three lines behind.
std::string OfTwoHosts(const std::string& log) {
  const Lines lines = LinesOf(log);
  std::string mixed;
  for (std::size_t i = 0; i < lines.size() + 3; ++i) {
    if (i < lines.size()) mixed += "[rank0]: " + lines[i] + "\n";
    if (i >= 3) mixed += "[rank1]: " + lines[i - 3] + "\n";
  }
  return mixed;
}

struct Disguise {
  const char* name;
  std::function<std::string(const std::string&)> wear;
};

const std::vector<Disguise>& Disguises() {
  using Text = const std::string&;
  static const std::vector<Disguise> disguises = {
      {"as it is", [](Text log) { return log; }},
      {"twice", [](Text log) { return log + "\nstep 8\n\n" + log; }},
      {"two hosts", OfTwoHosts},
      {"first half", [](Text log) { return log.substr(0, log.size() / 2); }},
      {"second half", [](Text log) { return log.substr(log.size() / 2); }},
      {"glog",
       [](Text log) {
         return EachLine(log, [](std::size_t i, Text line) {
           return fmt::format("E1120 {} {:7} pjrt_client.cc:{}] {}", Clock(i), 4000, 100 + i, line);
         });
       }},
      {"logging",
       [](Text log) {
         return EachLine(log, [](std::size_t i, Text line) {
           const std::string stamp = fmt::format("2026-11-20 {},{:03} - ERROR - ", Clock(i).substr(0, 8), i % 1000);
           return i % 7 == 0 ? stamp + line : line;
         });
       }},
      {"kubernetes",
       [](Text log) {
         return EachLine(log, [](std::size_t i, Text line) {
           return fmt::format("[pod/train-{}/worker] 2026-11-20T{}123Z {}", i / 9 % 2, Clock(i), line);
         });
       }},
      {"json",
       [](Text log) {
         return EachLine(log, [](std::size_t i, Text line) {
           return fmt::format(R"({{"severity": "ERROR", "timestamp": "2026-11-20T{}Z", "message": "{}"}})", Clock(i),
                              Escaped(line));
         });
       }},
      {"one record",
       [](Text log) {
         std::string text;
         for (const std::string& line : LinesOf(log)) text += Escaped(line) + "\\n";
         return R"({"level": "error", "msg": ")" + text + "\"}\n";
       }},
      {"one repr",
       [](Text log) {
         std::string text;
         for (const std::string& line : LinesOf(log)) text += line + "\\n";
         return "worker failed: JaxRuntimeError('" + text + "')\n";
       }},
      {"folded",
       [](Text log) {
         return EachLine(log, [](std::size_t, Text line) {
           std::string folded = line;
           for (std::size_t at = 100; at < folded.size(); at += 101) folded.insert(at, "\n");
           return folded;
         });
       }},
      {"quoted", [](Text log) { return "> " + EachLine(log, [](std::size_t, Text line) { return "> " + line; }); }},
      {"fenced", [](Text log) { return "It says:\n```\n" + log + "\n```\nWhat now?\n"; }},
      {"page",
       [](Text log) {
         std::string text;
         for (const char c : log)
           text += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string(1, c);
         return "<pre><code>" + text + "</code></pre>\n";
       }},
      {"colours", [](Text log) {
         return EachLine(log, [](std::size_t, Text line) { return "\x1b[36m(Worker pid=7)\x1b[0m " + line + "\r"; });
       }}};
  return disguises;
}

std::string RowText(const Allocation& row) {
  const auto number = [](const auto& value) { return value ? fmt::format("{}", *value) : std::string("-"); };
  return fmt::format("{} {} {} {} {} '{}' {} '{}' '{}' {} '{}' {} {} {}", row.rank, number(row.size_bytes),
                     number(row.unpadded_bytes), number(row.padding_bytes), number(row.padding_factor), row.shape_text,
                     row.array ? fmt::format("{}{}", row.array->dtype, row.array->dims) : "-", row.op_name,
                     row.source_file, number(row.source_line), row.xla_label, row.kind, row.tag, row.place.line);
}

std::string SightingText(const Sighting& sighting) {
  std::string text =
      fmt::format("{} {} '{}' {} {} {}:{} {} '{}' {}\n", sighting.failure->code, sighting.fragment, sighting.reporter,
                  sighting.repeats, sighting.time ? ToString(*sighting.time) : "-", sighting.head.line,
                  sighting.head.offset, sighting.last_line, sighting.message, ShowWithLines(sighting.facts));
  for (const Allocation& row : sighting.rows) text += RowText(row) + "\n";
  return text;
}

// "2 failures in E1000 0101, 10 rows, 3 facts; 0123456789ab"
std::string ReadingText(const Engine& engine, const std::string& log, std::size_t chunk) {
  const std::unique_ptr<ByteSource> source = OpenMemory(log, chunk);
  SightingReader reader(engine, *source);
  std::vector<Sighting> found;
  for (std::vector<Sighting> more = reader.Next(); !more.empty(); more = reader.Next())
    found.insert(found.end(), more.begin(), more.end());
  ReadEnd end = reader.Finish();
  std::string all = fmt::format("{} '{}' {}\n", end.unknown_times, end.problem, reader.framework());
  std::string codes;
  std::size_t rows = 0;
  std::size_t facts = 0;
  for (const Sighting& sighting : found) {
    all += SightingText(sighting);
    codes += " " + sighting.failure->code;
    rows += sighting.rows.size();
    facts += sighting.facts.all().size();
  }
  for (const CompiledProgram& program : end.programs.Take()) {
    all += fmt::format("{} {} {} {} {}\n", program.id, program.where.line, program.occurrences,
                       ShowWithLines(program.facts), program.first_time ? ToString(*program.first_time) : "-");
  }
  for (const Problem& problem : end.unknown) all += problem.what + "\n";
  return fmt::format("{}; {} rows, {} facts, {} unknown; {}", codes.empty() ? " none" : codes, rows, facts,
                     end.unknown.size(), Sha256Hex(all).substr(0, 12));
}

// The logs of testdata by name.
std::vector<std::pair<std::string, std::string>> Logs() {
  std::vector<std::pair<std::string, std::string>> logs;
  const fs::path root = fs::path(WHYOOM_SOURCE_DIR) / "testdata";
  for (const char* kind : {"advice", "cases"}) {
    for (const auto& entry : fs::directory_iterator(root / kind)) {
      const fs::path log = entry.path() / "log";
      if (fs::exists(log)) logs.emplace_back(fs::path(kind) / entry.path().filename(), ReadText(log.string()));
    }
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

TEST_CASE("what is read of each log in each disguise is as recorded", "[read][recorded]") {
  const Engine engine(BuiltInRules());
  std::string text;
  for (const auto& [name, log] : Logs()) {
    text += "== " + name + "\n";
    for (const Disguise& disguise : Disguises())
      text += fmt::format("{}:{}\n", disguise.name, ReadingText(engine, disguise.wear(log), 4099));
  }
  CheckRecorded(std::string(WHYOOM_SOURCE_DIR) + "/testdata/reading.txt", text);
}

}  // namespace TEST_FILE
