// Invariants for arbitrary bytes.

#include <random>

#include "catch.h"
#include "clean_text.h"
#include "unit/text/rule_affixes.h"

namespace whyoom {
namespace TEST_FILE {

// Pieces of every disguise, to combine them in unexpected ways.
const std::vector<std::string>& Scraps() {
  static const std::vector<std::string> scraps = {"boom",
                                                  " ",
                                                  "    ",
                                                  "\t",
                                                  "\n",
                                                  "\r",
                                                  "\\",
                                                  "\\n",
                                                  "\\r\\n",
                                                  "\\\\n",
                                                  "\\\"",
                                                  "\\'",
                                                  "\\u001b",
                                                  "\\ud83d\\udca5",
                                                  "\\x41",
                                                  "\\U0001f4a5",
                                                  "'",
                                                  "\"",
                                                  "op_name=\"",
                                                  "{\"message\": \"",
                                                  "{\"log\":\"",
                                                  "\"}",
                                                  "{",
                                                  "}",
                                                  "[",
                                                  "]",
                                                  ",",
                                                  "[rank0] ",
                                                  "[rank1]: ",
                                                  "3: ",
                                                  "(a pid=1, ip=10.0.0.1) ",
                                                  "E1120 12:00:00.000001 123 a.cc:1] ",
                                                  "2026-11-20T12:00:00Z ",
                                                  " [repeated 5x across cluster]",
                                                  "\x1b[31m",
                                                  "\x1b]8;;",
                                                  "\x07",
                                                  "\x1b\\",
                                                  "\x1b",
                                                  "[36m",
                                                  "\xC2\x9B",
                                                  "\xC2\xA0",
                                                  "\xE2\x80\x8B",
                                                  "\xF0\x9F\x92\xA5",
                                                  "\x80",
                                                  "\xFF",
                                                  "\xE2\x82",
                                                  "&gt;",
                                                  "&amp;",
                                                  "&#39;",
                                                  "&#x1b;",
                                                  "&#10;",
                                                  "> ",
                                                  "- ",
                                                  "* ",
                                                  "# ",
                                                  "**",
                                                  "`",
                                                  "(**kw)",
                                                  "1\\. ",
                                                  "\\_",
                                                  std::string(1, '\0'),
                                                  "worker-0  | ",
                                                  "stderr F ",
                                                  "\xEF\xBB\xBF",
                                                  "Total hbm usage >= 1.00G:"};
  return scraps;
}

std::string RandomBytes(std::mt19937* random) {
  std::string bytes;
  for (std::size_t i = 0, count = (*random)() % 24; i < count; ++i) {
    if ((*random)() % 8 == 0) {
      bytes += static_cast<char>((*random)());
    } else {
      bytes += Scraps()[(*random)() % Scraps().size()];
    }
  }
  return bytes;
}

TEST_CASE("lines from random bytes are clean and map back to them", "[text][slow]") {
  std::mt19937 random(20261121);
  for (int round = 0; round < 20000; ++round) {
    const std::string bytes = RandomBytes(&random);
    const auto lines = NormalizeLine(bytes);
    CAPTURE(bytes);
    REQUIRE(lines.size() >= 1);
    std::uint64_t previous = 0;
    for (const Line& line : lines) {
      REQUIRE(IsClean(line.text));
      REQUIRE(IsClean(line.stream_name));
      REQUIRE(line.repeats >= 1);
      REQUIRE(line.segments.at(0).text_at == 0);
      for (std::size_t i = 1; i < line.segments.size(); ++i) {
        REQUIRE(line.segments[i - 1].text_at < line.segments[i].text_at);
        REQUIRE(line.segments[i - 1].raw_at <= line.segments[i].raw_at);
      }
      REQUIRE(line.segments.back().raw_at <= bytes.size());
      if (line.text.empty()) continue;
      const std::uint64_t first = line.RawOffset(0);
      REQUIRE(first >= 1000);
      REQUIRE(first <= line.RawOffset(line.text.size() - 1));
      // A record's texts can be in any order and occur twice.
      if (bytes.find('{') == std::string::npos) {
        REQUIRE(first >= previous);
        previous = first;
      }
    }
  }
}

}  // namespace TEST_FILE
}  // namespace whyoom
