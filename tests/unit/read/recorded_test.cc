// Records what the reader finds in the logs of testdata: failures with facts and rows, compiled programs, unknown
// errors. Also records how these results differ if loggers or people change the log's form. Other tests check that the
// results are right; this one shows changes that no report shows. To record the results again:
//
//     WHYOOM_BLESS=1 build/release/tests/whyoom_tests "[recorded]" && git diff testdata/reading.txt
#include "recorded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "process.h"
#include "read/engine.h"
#include "read/failure_reader.h"
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

// Returns 12:00:00 plus one second per line and some microseconds.
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

// The first of each pair of lines comes from one host, the second from another, which is three lines behind.
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
           return fmt::format("[pod/train-0/worker] 2026-11-20T{}123Z {}", Clock(i), line);
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
  const auto known = [](std::string_view name, const auto& value) {
    return value ? fmt::format(" {}={}", name, *value) : std::string();
  };
  const auto text = [](std::string_view name, const std::string& value) {
    return value.empty() ? std::string() : fmt::format(" {}='{}'", name, value);
  };
  return fmt::format("{}.", row.rank) + known("size", row.size_bytes) + known("unpadded", row.unpadded_bytes) +
         known("padding", row.padding_bytes) + known("factor", row.padding_factor) + text("shape", row.shape_text) +
         (row.array ? fmt::format(" array={}{}", row.array->dtype, row.array->dims) : "") + text("op", row.op_name) +
         text("file", row.source_file) + known("line", row.source_line) + text("label", row.xla_label) +
         text("kind", row.kind) + text("tag", row.tag);
}

// The results for one log, in lines that can be compared one by one.
struct Reading {
  struct Found {
    std::string code;
    std::map<std::string, std::string> facts;  // including the message
    Lines rows;
  };
  std::vector<Found> failures;
  Lines others;  // compiled programs, unknown errors, problems
};

Reading::Found ReadFailure(const Failure& failure) {
  Reading::Found found{.code = failure.rule->code, .facts = {}, .rows = {}};
  for (const auto& [name, fact] : failure.facts.all()) found.facts[name] = Show(fact.value);
  found.facts["(message)"] = "'" + failure.message.substr(0, 100) + "'";
  for (const Allocation& row : failure.allocations) found.rows.push_back(RowText(row));
  return found;
}

Reading Read(const Engine& engine, const std::string& log) {
  const std::unique_ptr<ByteSource> source = OpenMemory(log, 4099);
  FailureReader reader(engine, *source);
  Reading reading;
  for (std::vector<Failure> more = reader.Next(); !more.empty(); more = reader.Next()) {
    for (const Failure& failure : more) reading.failures.push_back(ReadFailure(failure));
  }
  ReadEnd end = reader.Finish();
  for (const CompiledProgram& program : end.programs.Take())
    reading.others.push_back(fmt::format("compiled {} times: {}", program.occurrences, Show(program.facts)));
  for (const Problem& problem : end.problems) {
    if (problem.is_unknown_error()) reading.others.push_back("unknown error: " + problem.what);
  }
  return reading;
}

std::string Text(const Reading& reading) {
  std::string text = reading.failures.empty() ? "no failure\n" : "";
  for (const Reading::Found& found : reading.failures) {
    text += found.code + "\n";
    for (const auto& [name, value] : found.facts) text += fmt::format("  {} = {}\n", name, value);
    for (const std::string& row : found.rows) text += "  " + row + "\n";
  }
  for (const std::string& other : reading.others) text += other + "\n";
  return text;
}

// Returns how `found` differs from `plain`: "without module; limit_bytes = 5, not 7; 3 of 20 rows"; "same" if it does
// not.
std::string Difference(const Reading::Found& plain, const Reading::Found& found) {
  Lines parts;
  Lines lost;
  for (const auto& [name, value] : plain.facts) {
    if (!found.facts.contains(name)) lost.push_back(name);
  }
  if (!lost.empty()) parts.push_back(fmt::format("without {}", fmt::join(lost, ", ")));
  for (const auto& [name, value] : found.facts) {
    const auto before = plain.facts.find(name);
    if (before == plain.facts.end()) {
      parts.push_back(fmt::format("also {} = {}", name, value));
    } else if (before->second != value) {
      parts.push_back(fmt::format("{} = {}, not {}", name, value, before->second));
    }
  }
  std::size_t same = 0;
  while (same < std::min(plain.rows.size(), found.rows.size()) && plain.rows[same] == found.rows[same]) ++same;
  if (found.rows.size() != plain.rows.size() || same != plain.rows.size())
    parts.push_back(fmt::format("{} rows, of which {} as above", found.rows.size(), same));
  return parts.empty() ? "same" : fmt::format("{}", fmt::join(parts, "; "));
}

std::string DifferenceText(const Reading& plain, const Reading& reading) {
  std::string text;
  for (std::size_t i = 0; i < reading.failures.size(); ++i) {
    const Reading::Found& found = reading.failures[i];
    const auto has_code = [&](const Reading::Found& other) { return other.code == found.code; };
    // The failure at the same place, if it has this code. A log that occurs twice has each failure twice.
    const std::size_t turn = plain.failures.empty() ? 0 : i % plain.failures.size();
    const auto like = plain.failures.empty() || has_code(plain.failures[turn])
                          ? plain.failures.begin() + static_cast<std::ptrdiff_t>(turn)
                          : std::find_if(plain.failures.begin(), plain.failures.end(), has_code);
    text += fmt::format(" {}: {}.", found.code, like == plain.failures.end() ? "new" : Difference(*like, found));
  }
  if (reading.failures.empty()) text = plain.failures.empty() ? " no failure." : " NO failure.";
  for (const std::string& other : reading.others) {
    if (std::find(plain.others.begin(), plain.others.end(), other) == plain.others.end()) text += " " + other + ".";
  }
  for (const std::string& other : plain.others) {
    if (std::find(reading.others.begin(), reading.others.end(), other) == reading.others.end())
      text += " Without: " + other + ".";
  }
  return text;
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

TEST_CASE("the results of each log in each disguise are as recorded", "[read][recorded]") {
  const Engine engine(BuiltInRules());
  std::string text;
  for (const auto& [name, log] : Logs()) {
    const Reading plain = Read(engine, log);
    text += "== " + name + "\n" + Text(plain);
    for (const Disguise& disguise : Disguises())
      text += fmt::format("{}:{}\n", disguise.name, DifferenceText(plain, Read(engine, disguise.wear(log))));
  }
  CheckRecorded(std::string(WHYOOM_SOURCE_DIR) + "/testdata/reading.txt", text);
}

}  // namespace TEST_FILE
